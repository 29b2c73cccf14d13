// Features that are the shaped row.
FEATURES.rows = (f, sums) => ({
  add: (x, total) => x.forEach((v, i) => { total[sums.place[i]] += sums.sign[i] * v; }),
});
