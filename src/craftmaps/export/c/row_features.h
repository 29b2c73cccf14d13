/* The features are the shaped row. */
static inline void craft_add_features(const float *x) {
  for (long i = 0; i < CRAFT_WIDTH; i++) craft_add(i, x[i]);
}
