import Basics
import Wire
