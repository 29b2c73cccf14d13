/* Up-features, one after the other, are added to sums: all in their own place, or folded by a down-projection. */
static float craft_sum[CRAFT_SUMS];
#ifdef CRAFT_DOWN
static uint8_t craft_down_sign[(CRAFT_DOWN + 7) / 8];
static uint32_t craft_shift[(CRAFT_DOWN + CRAFT_CHUNK - 1) / CRAFT_CHUNK];

static inline void craft_draw_down(void) {
  craft_stream s;
  craft_draw_signs(craft_down_sign, CRAFT_DOWN_SEED, CRAFT_DOWN);
  craft_open(&s, CRAFT_DOWN_SEED, "shifts");
  for (long c = 0; c * CRAFT_CHUNK < CRAFT_DOWN; c++) craft_shift[c] = craft_below(&s, CRAFT_CHUNK);
}

static inline void craft_add(long column, float value) {
  if (column >= CRAFT_DOWN) {
    craft_sum[CRAFT_CHUNK + column - CRAFT_DOWN] += value; /* kept as it is */
    return;
  }
  long place = (column % CRAFT_CHUNK) ^ (long)craft_shift[column / CRAFT_CHUNK];
  craft_sum[place] += craft_signed(craft_down_sign, column, value);
}
#else
static inline void craft_add(long column, float value) { craft_sum[column] += value; }
#endif
