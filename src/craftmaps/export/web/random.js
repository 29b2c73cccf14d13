// Randomness: words of Philox 4x64-10 in 32-bit halves. The key of a stream is the seed and the FNV-1a hash of a
// purpose; the counter starts at 1.
function fnv1a(bytes) {
  let hash = 0xCBF29CE484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001B3n);
  return hash;
}

// The upper half of the product of two 32-bit numbers.
function high(a, b) {
  const al = a & 65535, ah = a >>> 16, bl = b & 65535, bh = b >>> 16;
  const ll = imul(al, bl) >>> 0, lh = imul(al, bh) >>> 0, hl = imul(ah, bl) >>> 0;
  const middle = (ll >>> 16) + (lh & 65535) + (hl & 65535);
  return (imul(ah, bh) + (lh >>> 16) + (hl >>> 16) + (middle >>> 16)) >>> 0;
}

// The product of two 64-bit numbers as four 32-bit halves in `out`, the lowest first.
function product(ah, al, bh, bl, out) {
  let sum = high(al, bl) + (imul(al, bh) >>> 0) + (imul(ah, bl) >>> 0);
  out[0] = imul(al, bl);
  out[1] = sum;
  sum = (sum - (sum >>> 0)) / 4294967296 + high(al, bh) + high(ah, bl) + (imul(ah, bh) >>> 0);
  out[2] = sum;
  out[3] = high(ah, bh) + (sum - (sum >>> 0)) / 4294967296;
}

// The first n words of a stream, as upper and lower halves. The lower half of a number of the counter comes first.
function words(seed, purpose, n) {
  const hi = new Uint32Array(n + 3), lo = new Uint32Array(n + 3), p = new Uint32Array(4), q = new Uint32Array(4);
  const hash = fnv1a(Array.from(purpose, (c) => c.charCodeAt(0)));
  const key = [BigInt(seed), BigInt(seed) >> 32n, hash, hash >> 32n].map((v) => Number(v & 0xFFFFFFFFn));
  for (let at = 0; at < n; at += 4) {
    let [k0, k1, k2, k3] = key, a = at / 4 + 1, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    for (let round = 0; round < 10; round++) {
      product(b, a, 0xD2E7470E, 0xE14C6C93, p);
      product(f, e, 0xCA5A8263, 0x95121157, q);
      a = q[2] ^ c ^ k0; b = q[3] ^ d ^ k1; c = q[0]; d = q[1];
      e = p[2] ^ g ^ k2; f = p[3] ^ h ^ k3; g = p[0]; h = p[1];
      k0 += 0x7F4A7C15; k1 = k1 + 0x9E3779B9 + (k0 > 4294967295) >>> 0; k0 >>>= 0;
      k2 += 0x84CAA73B; k3 = k3 + 0xBB67AE85 + (k2 > 4294967295) >>> 0; k2 >>>= 0;
    }
    lo.set([a, c, e, g], at);
    hi.set([b, d, f, h], at);
  }
  return { hi: hi.subarray(0, n), lo: lo.subarray(0, n) };
}

// Signs from bits, the lowest of a word first; a set bit is -1.
function signs(seed, n) {
  const w = words(seed, 'signs', ceil(n / 64)), s = new Int8Array(n);
  for (let i = 0; i < n; i++) s[i] = 1 - 2 * ((i & 32 ? w.hi : w.lo)[i >> 6] >>> (i & 31) & 1);
  return s;
}

// Permutations, each the order that sorts n words, of which n may be 2^21.
function permutations(seed, purpose, count, n) {
  const w = words(seed, purpose, count * n), out = new Uint32Array(count * n), keys = new Float64Array(n);
  for (let at = 0; at < count * n; at += n) {
    for (let i = 0; i < n; i++) keys[i] = w.hi[at + i] * 2097152 + i;
    keys.sort();
    for (let i = 0; i < n; i++) {
      const b = keys[i] % 2097152;
      // Words of equal upper halves go by their lower ones.
      let j = i;
      for (; j > 0; j--) {
        const a = out[at + j - 1];
        if (w.hi[at + a] !== w.hi[at + b] || w.lo[at + a] <= w.lo[at + b]) break;
        out[at + j] = a;
      }
      out[at + j] = b;
    }
  }
  return out;
}

// Whole numbers below a bound.
function integers(seed, purpose, n, bound) {
  return Uint32Array.from(words(seed, purpose, n).hi, (h) => floor(h * bound / 4294967296));
}
