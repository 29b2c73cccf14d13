;; Four rows in the four lanes of a vector. Made into simd.wasm by wasmtime's wat2wasm, see tests/export/test_wasm.py.
(module
  (memory (export "memory") 1)

  ;; Hadamard transform of n vectors at $x, in place: one pass of stride 1 if log2 n is odd, then two strides at a time.
  (func (export "transform") (param $x i32) (param $n i32)
    (local $end i32) (local $stride i32) (local $block i32) (local $p0 i32) (local $stop i32)
    (local $p1 i32) (local $p2 i32) (local $p3 i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $s v128) (local $t v128)
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $n) (i32.const 4))))
    (local.set $stride (i32.const 16))
    (if (i32.and (i32.ctz (local.get $n)) (i32.const 1)) (then
      (local.set $block (local.get $x))
      (loop $pair
        (local.set $a (v128.load (local.get $block)))
        (local.set $b (v128.load offset=16 (local.get $block)))
        (v128.store (local.get $block) (f32x4.add (local.get $a) (local.get $b)))
        (v128.store offset=16 (local.get $block) (f32x4.sub (local.get $a) (local.get $b)))
        (local.set $block (i32.add (local.get $block) (i32.const 32)))
        (br_if $pair (i32.lt_u (local.get $block) (local.get $end))))
      (local.set $stride (i32.const 32))))
    (block $done (loop $pass
      (br_if $done (i32.ge_u (local.get $stride) (i32.shl (local.get $n) (i32.const 4))))
      (local.set $block (local.get $x))
      (loop $blocks
        (local.set $p0 (local.get $block))
        (local.set $stop (i32.add (local.get $block) (local.get $stride)))
        (loop $four
          (local.set $p1 (i32.add (local.get $p0) (local.get $stride)))
          (local.set $p2 (i32.add (local.get $p1) (local.get $stride)))
          (local.set $p3 (i32.add (local.get $p2) (local.get $stride)))
          (local.set $a (v128.load (local.get $p0)))
          (local.set $b (v128.load (local.get $p1)))
          (local.set $c (v128.load (local.get $p2)))
          (local.set $d (v128.load (local.get $p3)))
          (local.set $s (f32x4.add (local.get $a) (local.get $b)))
          (local.set $t (f32x4.add (local.get $c) (local.get $d)))
          (v128.store (local.get $p0) (f32x4.add (local.get $s) (local.get $t)))
          (v128.store (local.get $p2) (f32x4.sub (local.get $s) (local.get $t)))
          (local.set $s (f32x4.sub (local.get $a) (local.get $b)))
          (local.set $t (f32x4.sub (local.get $c) (local.get $d)))
          (v128.store (local.get $p1) (f32x4.add (local.get $s) (local.get $t)))
          (v128.store (local.get $p3) (f32x4.sub (local.get $s) (local.get $t)))
          (local.set $p0 (i32.add (local.get $p0) (i32.const 16)))
          (br_if $four (i32.lt_u (local.get $p0) (local.get $stop))))
        (local.set $block (i32.add (local.get $block) (i32.shl (local.get $stride) (i32.const 2))))
        (br_if $blocks (i32.lt_u (local.get $block) (local.get $end))))
      (local.set $stride (i32.shl (local.get $stride) (i32.const 2)))
      (br $pass))))

  ;; Write n vectors of $x, each times a sign, to $out.
  (func (export "flip") (param $out i32) (param $x i32) (param $signs i32) (param $n i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $out) (i32.shl (local.get $n) (i32.const 4))))
    (loop $next
      (v128.store (local.get $out) (f32x4.mul (v128.load (local.get $x)) (v128.load32_splat (local.get $signs))))
      (local.set $x (i32.add (local.get $x) (i32.const 16)))
      (local.set $signs (i32.add (local.get $signs) (i32.const 4)))
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $out) (local.get $end)))))

  ;; Complex products of $degree factors, added to sums. A record of the list has the addresses of the real parts of
  ;; its factors, whose imaginary parts are $im bytes behind, then the addresses of two sums, then their two weights.
  (func (export "products") (param $list i32) (param $end i32) (param $degree i32) (param $im i32)
    (local $x v128) (local $y v128) (local $u v128) (local $v v128) (local $p i32) (local $stop i32)
    (loop $next
      (local.set $p (i32.load (local.get $list)))
      (local.set $x (v128.load (local.get $p)))
      (local.set $y (v128.load (i32.add (local.get $p) (local.get $im))))
      (local.set $stop (i32.add (local.get $list) (i32.shl (local.get $degree) (i32.const 2))))
      (local.set $list (i32.add (local.get $list) (i32.const 4)))
      (block $ready (loop $factor
        (br_if $ready (i32.ge_u (local.get $list) (local.get $stop)))
        (local.set $p (i32.load (local.get $list)))
        (local.set $u (v128.load (local.get $p)))
        (local.set $v (v128.load (i32.add (local.get $p) (local.get $im))))
        (f32x4.sub (f32x4.mul (local.get $x) (local.get $u)) (f32x4.mul (local.get $y) (local.get $v)))
        (local.set $y
          (f32x4.add (f32x4.mul (local.get $x) (local.get $v)) (f32x4.mul (local.get $y) (local.get $u))))
        (local.set $x)
        (local.set $list (i32.add (local.get $list) (i32.const 4)))
        (br $factor)))
      (local.set $p (i32.load (local.get $list)))
      (local.set $u (f32x4.mul (local.get $x) (v128.load32_splat offset=8 (local.get $list))))
      (v128.store (local.get $p) (f32x4.add (v128.load (local.get $p)) (local.get $u)))
      (local.set $p (i32.load offset=4 (local.get $list)))
      (local.set $u (f32x4.mul (local.get $y) (v128.load32_splat offset=12 (local.get $list))))
      (v128.store (local.get $p) (f32x4.add (v128.load (local.get $p)) (local.get $u)))
      (local.set $list (i32.add (local.get $list) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $list) (local.get $end)))))

  ;; Multiply a matrix of k rows of n weights with n vectors.
  (func (export "multiply") (param $out i32) (param $weights i32) (param $x i32) (param $n i32) (param $k i32)
    (local $sum v128) (local $p i32) (local $end i32)
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $n) (i32.const 4))))
    (loop $row
      (local.set $sum (v128.const f32x4 0 0 0 0))
      (local.set $p (local.get $x))
      (loop $next
        (local.set $sum
          (f32x4.add
            (local.get $sum)
            (f32x4.mul (v128.load (local.get $p)) (v128.load32_splat (local.get $weights)))))
        (local.set $weights (i32.add (local.get $weights) (i32.const 4)))
        (local.set $p (i32.add (local.get $p) (i32.const 16)))
        (br_if $next (i32.lt_u (local.get $p) (local.get $end))))
      (v128.store (local.get $out) (local.get $sum))
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (local.set $k (i32.sub (local.get $k) (i32.const 1)))
      (br_if $row (local.get $k)))))
