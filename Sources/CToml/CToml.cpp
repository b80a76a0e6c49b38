extern "C" int bitgate_toml_placeholder(void) { return 0; }
