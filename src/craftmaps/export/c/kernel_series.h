static inline float craft_kernel(float t) {
  float result = 0;
  int n = (int)(sizeof craft_coefficient / sizeof *craft_coefficient);
  while (n-- > 0) result = result * t + craft_coefficient[n];
  return result;
}
