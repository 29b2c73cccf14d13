/* Kernel values against landmarks. */
static inline void craft_add_features(const float *x) {
  for (long l = 0; l < CRAFT_COLUMNS; l++) {
    float dot = 0;
    for (int i = 0; i < CRAFT_WIDTH; i++) dot += craft_landmark[l][i] * x[i];
    craft_add(l, craft_kernel(dot));
  }
}
