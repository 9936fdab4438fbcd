#pragma once

#define PLUGINLIB_EXPORT_CLASS(derived, base) static_assert(std::is_base_of_v<base, derived>);
