/* Steps that shape a row. */
static inline void craft_scale_columns(float *x, const float *subtract, const float *divide, int n) {
  for (int i = 0; i < n; i++) x[i] = (x[i] - (subtract ? subtract[i] : 0)) / (divide ? divide[i] : 1);
}

static inline void craft_rotate(float *x, const float *from, const float *subtract, const float *axes, int n,
                                int width) {
  for (int a = 0; a < width; a++) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += (from[i] - subtract[i]) * axes[(long)a * n + i];
    x[a] = sum;
  }
}

static inline void craft_multiply(float *x, float factor, int n) {
  for (int i = 0; i < n; i++) x[i] *= factor;
}

/* Unit length; the largest entry is divided out first, as squares may overflow. A row of zeros stays. */
static inline void craft_unit(float *x, int n) {
  float top = 0, sum = 0;
  for (int i = 0; i < n; i++) top = fabsf(x[i]) > top ? fabsf(x[i]) : top;
  if (!(top > 0)) return;
  for (int i = 0; i < n; i++) sum += (x[i] / top) * (x[i] / top);
  sum = sqrtf(sum);
  for (int i = 0; i < n; i++) x[i] = x[i] / top / sum;
}
