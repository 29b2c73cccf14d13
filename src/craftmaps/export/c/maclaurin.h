/* Random Maclaurin features: products of randomised projections. Features come in groups of CRAFT_ORDER, the highest
   degree first; factor j of a group takes numbers of block j in an order of its own. */
static uint8_t craft_sign[(CRAFT_SIGNS + 7) / 8];
static union {
  float block[CRAFT_NUMBERS];
#if CRAFT_ORDER
  struct {
    uint64_t word[CRAFT_ORDER];
    craft_place place[CRAFT_ORDER];
  } sorting; /* used before the first prediction only */
#endif
} craft_room;

#if CRAFT_ORDER
static craft_place craft_row[CRAFT_USES];

static inline int craft_is_before(long a, long b) {
  const uint64_t *word = craft_room.sorting.word;
  return word[a] < word[b] || (word[a] == word[b] && a < b);
}

/* The order that sorts the words: a heap sort, which needs no more room. */
static inline void craft_sort(void) {
  craft_place *place = craft_room.sorting.place, t;
  for (long i = 0; i < CRAFT_ORDER; i++) place[i] = (craft_place)i;
  for (long start = CRAFT_ORDER / 2, end = CRAFT_ORDER; end > 1;) {
    if (start > 0) {
      start--;
    } else {
      end--;
      t = place[end];
      place[end] = place[0];
      place[0] = t;
    }
    long root = start;
    t = place[root];
    for (long child; (child = 2 * root + 1) < end; root = child) {
      if (child + 1 < end && craft_is_before(place[child], place[child + 1])) child++;
      if (!craft_is_before(t, place[child])) break;
      place[root] = place[child];
    }
    place[root] = t;
  }
}
#endif

static inline void craft_draw(void) {
  craft_draw_signs(craft_sign, CRAFT_SEED, CRAFT_SIGNS);
#if CRAFT_ORDER
  craft_stream s;
  long at = 0;
  craft_open(&s, CRAFT_SEED, "rows");
  for (int f = 0; f < CRAFT_FACTORS; f++) {
    for (long i = 0; i < CRAFT_ORDER; i++) craft_room.sorting.word[i] = craft_next(&s);
    craft_sort();
    for (long i = 0; i < craft_used[f]; i++) craft_row[at++] = craft_room.sorting.place[i];
  }
#endif
}

/* All projections of a row by n blocks from the first one on; x may lie where the last of all is made. */
static inline void craft_project(const float *x, int first, int n) {
#if CRAFT_ORDER
  for (int b = 0; b < n * CRAFT_PARTS; b++) {
    float *z = craft_room.block + (long)b * CRAFT_ORDER;
    long sign = ((long)first * CRAFT_PARTS + b) * CRAFT_ORDER;
    for (int i = 0; i < CRAFT_WIDTH; i++) z[i] = craft_signed(craft_sign, sign + i, x[i]);
    for (int i = CRAFT_WIDTH; i < CRAFT_ORDER; i++) z[i] = 0;
    for (int h = 1; h < CRAFT_ORDER; h *= 2)
      for (int i = 0; i < CRAFT_ORDER; i += 2 * h)
        for (int j = i; j < i + h; j++) {
          float a = z[j], c = z[j + h];
          z[j] = a + c;
          z[j + h] = a - c;
        }
  }
#else
  (void)first;
  (void)n;
  for (long k = 0; k < CRAFT_NUMBERS; k++) {
    float sum = 0;
    for (int i = 0; i < CRAFT_WIDTH; i++) sum += craft_signed(craft_sign, k * CRAFT_WIDTH + i, x[i]);
    craft_room.block[k] = sum;
  }
#endif
}

/* Where the number of factor j is that feature i of a group multiplies; `at` is where the rows of the factor begin. */
static inline const float *craft_factor(int j, long at, long i) {
#if CRAFT_ORDER
  return craft_room.block + (long)j * CRAFT_PARTS * CRAFT_ORDER + craft_row[at + i];
#else
  (void)j;
  return craft_room.block + (at + i) * CRAFT_PARTS;
#endif
}

static inline void craft_add_features(float *x) {
  long column = CRAFT_COLUMNS - CRAFT_CONSTANT - CRAFT_LINEAR, at = 0;
  craft_multiply(x, craft_map_scale, CRAFT_WIDTH);
  for (int i = 0; i < CRAFT_LINEAR; i++) craft_add(column++, craft_linear * x[i]);
  for (int i = 0; i < CRAFT_CONSTANT; i++) craft_add(column++, craft_constant);
  column = CRAFT_PARTS * (long)CRAFT_RANDOM;
  for (long i = 0; i < CRAFT_LOOSE; i++) craft_add(column++, craft_weight[0]);
  column = 0;
  if (CRAFT_SHARED) craft_project(x, 0, CRAFT_BLOCKS);
  for (int g = 0, f = 0; g < CRAFT_GROUPS; f += craft_top[g++]) {
    const long n = craft_used[f];
    if (!CRAFT_SHARED) craft_project(x, f, craft_top[g]);
    int degree = craft_top[g];
    for (long i = 0; i < n; i++) {
      while (i >= craft_used[f + degree - 1]) degree--;
      long start = at;
      float re = craft_weight[degree], im = 0;
      for (int j = 0; j < degree; start += craft_used[f + j++]) {
        const float *u = craft_factor(j, start, i);
#if CRAFT_PARTS == 2
        float t = re * u[0] - im * u[CRAFT_IMAGINARY];
        im = re * u[CRAFT_IMAGINARY] + im * u[0];
        re = t;
#else
        re *= u[0];
#endif
      }
      craft_add(column + i, re);
      if (CRAFT_PARTS == 2) craft_add(column + n + i, im);
    }
    column += CRAFT_PARTS * n;
    for (int j = 0; j < craft_top[g]; j++) at += craft_used[f + j];
  }
}
