/* Uses the installed runtime from C; compiled and linked with what pkg-config says. */
#include <leapp/c.h>
#include <stdio.h>

int main(void) {
  leapp_manager* robot = NULL;
  const int right = leapp_load("nowhere.yaml", NULL, &robot) == LEAPP_NOT_FOUND;
  puts(right ? "runtime works" : "wrong");
  return right ? 0 : 1;
}
