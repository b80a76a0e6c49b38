#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Macros with a cast or an argument, which Swift does not see.
static const uint64_t bitgate_ssl_options = SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION;
static const long bitgate_ssl_modes = SSL_MODE_RELEASE_BUFFERS;

static inline int bitgate_set_server_name(SSL *ssl, const char *name) { return (int)SSL_set_tlsext_host_name(ssl, name); }
static inline int bitgate_set_groups(SSL_CTX *context, const char *list) {
    return (int)SSL_CTX_set1_groups_list(context, list);
}
static inline int bitgate_set_oldest_version(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version);
}
