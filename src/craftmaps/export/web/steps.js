// Steps that shape a row: each takes a row and returns one, which may be the same.
const STEPS = {
  columns(step) {
    const subtract = numbersOf(step.subtract), divide = numbersOf(step.divide);
    return (x) => x.map((v, i) => (v - (subtract ? subtract[i] : 0)) / (divide ? divide[i] : 1));
  },
  axes(step) {
    const subtract = numbersOf(step.subtract), multiply = numbersOf(step.multiply), axes = numbersOf(step.axes);
    const [width, n] = step.axes.shape;
    return (row) => {
      const x = row.map((v, i) => (v - subtract[i]) * multiply[i]), out = new Float64Array(width);
      for (let a = 0, at = 0; a < width; a++) {
        let sum = 0;
        for (let i = 0; i < n; i++) sum += axes[at++] * x[i];
        out[a] = sum;
      }
      return out;
    };
  },
  // Unit length; the largest entry is divided out first, as squares may overflow. A row of zeros stays.
  unit() {
    return (x) => {
      let top = 0, sum = 0;
      for (const v of x) top = Math.max(top, Math.abs(v));
      if (!top) return x;
      for (const v of x) sum += (v / top) ** 2;
      sum = Math.sqrt(sum);
      return x.map((v) => v / top / sum);
    };
  },
  multiply(step) {
    return (x) => x.map((v) => v * step.factor);
  },
};
