// Kernel values against landmarks.
const KERNELS = {
  polynomial: (k) => (t) => (k.gamma * t + k.coef0) ** k.degree,
  exponential: (k) => (t) => Math.exp(k.gamma * t),
  series: (k) => (t) => k.coefficients.reduceRight((sum, a) => sum * t + a, 0),
};

FEATURES.landmarks = (f, sums) => {
  const landmarks = numbersOf(f.landmarks), kernel = KERNELS[f.kernel.kind](f.kernel);
  function add(x, total) {
    for (let l = 0, at = 0; l < f.n_columns; l++) {
      let dot = 0;
      for (let i = 0; i < f.width; i++) dot += landmarks[at++] * x[i];
      total[sums.place[l]] += sums.sign[l] * kernel(dot);
    }
  }
  return { add };
};
