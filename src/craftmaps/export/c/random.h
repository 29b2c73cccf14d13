/* Randomness: words of Philox 4x64-10. The key of a stream is the seed and the FNV-1a hash of a purpose. */
typedef struct {
  uint64_t key[2], counter, word[4];
  int left;
} craft_stream;

static inline uint64_t craft_high(uint64_t a, uint64_t b) { /* the upper half of a product */
  uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
  uint64_t lh = al * bh, hl = ah * bl, middle = (al * bl >> 32) + (uint32_t)lh + (uint32_t)hl;
  return ah * bh + (lh >> 32) + (hl >> 32) + (middle >> 32);
}

static inline void craft_open(craft_stream *s, uint64_t seed, const char *purpose) {
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  while (*purpose) hash = (hash ^ (uint8_t)*purpose++) * UINT64_C(0x100000001B3);
  s->key[0] = seed;
  s->key[1] = hash;
  s->counter = 0;
  s->left = 0;
}

static inline uint64_t craft_next(craft_stream *s) {
  if (!s->left) {
    uint64_t c0 = ++s->counter, c1 = 0, c2 = 0, c3 = 0, k0 = s->key[0], k1 = s->key[1];
    for (int i = 0; i < 10; i++) {
      const uint64_t m0 = UINT64_C(0xD2E7470EE14C6C93), m1 = UINT64_C(0xCA5A826395121157);
      uint64_t h0 = craft_high(c0, m0), l0 = c0 * m0, h1 = craft_high(c2, m1), l1 = c2 * m1;
      c0 = h1 ^ c1 ^ k0;
      c1 = l1;
      c2 = h0 ^ c3 ^ k1;
      c3 = l0;
      k0 += UINT64_C(0x9E3779B97F4A7C15);
      k1 += UINT64_C(0xBB67AE8584CAA73B);
    }
    s->word[0] = c0;
    s->word[1] = c1;
    s->word[2] = c2;
    s->word[3] = c3;
    s->left = 4;
  }
  return s->word[4 - s->left--];
}

/* Signs as bits, the lowest of a word first; a set bit is -1. */
static inline void craft_draw_signs(uint8_t *bits, uint64_t seed, long n) {
  craft_stream s;
  craft_open(&s, seed, "signs");
  for (long i = 0; i < n; i += 64) {
    uint64_t word = craft_next(&s);
    for (int b = 0; b < 8 && i + 8 * b < n; b++) bits[i / 8 + b] = (uint8_t)(word >> 8 * b);
  }
}

static inline float craft_signed(const uint8_t *bits, long i, float value) {
  return bits[i / 8] >> i % 8 & 1 ? -value : value;
}

/* A whole number below a bound, from the upper half of a word. */
static inline uint32_t craft_below(craft_stream *s, uint64_t bound) {
  return (uint32_t)((craft_next(s) >> 32) * bound >> 32);
}
