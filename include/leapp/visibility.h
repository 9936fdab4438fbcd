// LEAPP_EXPORT marks the interface of the shared libraries; all other symbols are hidden.
#pragma once

#define LEAPP_EXPORT __attribute__((visibility("default")))
