static inline float craft_kernel(float t) { return expf(craft_gamma * t); }
