// LEAPP_EXPORT marks what the shared libraries offer; everything else stays hidden.
#pragma once

#define LEAPP_EXPORT __attribute__((visibility("default")))
