static inline float craft_kernel(float t) {
  float result = 1;
  t = craft_gamma * t + craft_coef0;
  for (int n = CRAFT_DEGREE; n; n >>= 1, t *= t)
    if (n & 1) result *= t;
  return result;
}
