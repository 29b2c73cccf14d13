// Unit length; the largest entry is divided out first, as squares may overflow. A row of zeros stays.
STEPS.unit = () => {
  return (x) => {
    let top = 0, sum = 0;
    for (const v of x) top = max(top, abs(v));
    if (!top) return x;
    for (const v of x) sum += (v / top) ** 2;
    sum = sqrt(sum);
    return x.map((v) => v / top / sum);
  };
};
