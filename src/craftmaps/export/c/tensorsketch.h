/* TensorSketch: count sketches of the row, convolved one after the other. */
static uint8_t craft_sign[(CRAFT_SIGNS + 7) / 8];
static uint32_t craft_bucket[CRAFT_SIGNS];
static float craft_sketch[2][CRAFT_COLUMNS];

static inline void craft_draw(void) {
  craft_stream s;
  craft_draw_signs(craft_sign, CRAFT_SEED, CRAFT_DEGREE * (long)(CRAFT_WIDTH + 1));
  craft_open(&s, CRAFT_SEED, "buckets");
  for (long i = 0; i < CRAFT_DEGREE * (long)(CRAFT_WIDTH + 1); i++) craft_bucket[i] = craft_below(&s, CRAFT_COLUMNS);
}

static inline void craft_add_features(const float *x) {
  float *z = craft_sketch[0], *next = craft_sketch[1], *t;
  memset(craft_sketch, 0, sizeof craft_sketch);
  z[0] = 1;
  for (int j = 0; j < CRAFT_DEGREE; j++) {
    for (long i = 0; i <= CRAFT_WIDTH; i++) {
      const long k = j * (long)(CRAFT_WIDTH + 1) + i, shift = craft_bucket[k];
      const float value = craft_signed(craft_sign, k, i < CRAFT_WIDTH ? craft_map_scale * x[i] : craft_constant);
      if (value == 0) continue;
      if (!j) {
        next[shift] += value;
        continue;
      }
      for (long p = 0; p < CRAFT_COLUMNS - shift; p++) next[p + shift] += value * z[p];
      for (long p = CRAFT_COLUMNS - shift; p < CRAFT_COLUMNS; p++) next[p + shift - CRAFT_COLUMNS] += value * z[p];
    }
    t = z;
    z = next;
    next = t;
    memset(next, 0, sizeof craft_sketch[0]);
  }
  for (long c = 0; c < CRAFT_COLUMNS; c++) craft_add(c, z[c]);
}
