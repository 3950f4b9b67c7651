/* Counts the glyphs of a transcribed charter. The request names the transcription by its path and its SHA-256. */
#include "latchwork.h"

static uint32_t turned(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* The round constants are the fractional parts of the cube roots of the first 64 primes. They are computed once. */
static uint32_t rounds[64];

static void fill_rounds(void) {
  if (rounds[0]) return;
  for (int found = 0, n = 2; found < 64; n++) {
    bool prime = true;
    for (int d = 2; d * d <= n; d++) prime = prime && n % d != 0;
    if (!prime) continue;
    /* floor(cbrt(n) * 2^32), by bisection in integers: the largest r with r^3 <= n * 2^96. */
    unsigned __int128 low = 0, high = (unsigned __int128)8 << 32;
    while (high - low > 1) {
      unsigned __int128 mid = (low + high) / 2, square = mid * mid, limit = ((unsigned __int128)n << 96) / mid;
      if (square <= limit) low = mid;
      else high = mid;
    }
    rounds[found++] = (uint32_t)low;
  }
}

static void block(uint32_t state[8], const unsigned char *bytes) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 | (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
  for (int i = 16; i < 64; i++)
    w[i] = w[i - 16] + w[i - 7] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) +
           (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
  memcpy(s, state, sizeof s);
  for (int i = 0; i < 64; i++) {
    uint32_t a = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + rounds[i] + w[i];
    uint32_t b = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += a;
    s[0] = a + b;
  }
  for (int i = 0; i < 8; i++) state[i] += s[i];
}

/* Writes the SHA-256 of a text as 64 digits. */
static void digest(const char *text, char hex[65]) {
  uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
  size_t len = strlen(text), whole = len / 64 * 64, room = (len - whole + 9 + 63) / 64 * 64;
  unsigned char last[128] = { 0 };
  memcpy(last, text + whole, len - whole);
  last[len - whole] = 0x80;
  for (int i = 0; i < 8; i++) last[room - 1 - i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
  fill_rounds();
  for (size_t at = 0; at < whole; at += 64) block(state, (const unsigned char *)text + at);
  for (size_t at = 0; at < room; at += 64) block(state, last + at);
  for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", state[i]);
}

static bool count(latch_json input, latch_answer *answer) {
  char *path = latch_json_string(latch_json_member(input, "path"));
  char *wanted = latch_json_string(latch_json_member(input, "sha256"));
  if (!path || !wanted) return latch_fail(answer, LATCH_INVALID_INPUT, "path or digest is missing");
  latch_text args = { 0 };
  latch_put(&args, "{\"path\":");
  latch_put_string(&args, path);
  latch_put(&args, "}");

  /* The digest fixes the text. Whatever else the archive answers, an error or another text, is one and the same failure. */
  char hex[65] = "", *read = latch_call(answer, "Archive.Read", args.bytes, NULL);
  char *text = read ? latch_json_string(latch_json_member(latch_json_of(read), "text")) : NULL;
  if (text) digest(text, hex);
  if (strcmp(hex, wanted) != 0)
    return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the archive has no text %s with the digest %s", path, wanted);

  size_t lines = 0, glyphs = 0, gaps = 0;
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    lines += *c == '\n';
    gaps += *c == '[';
    glyphs += *c > ' ' && (*c & 0xc0) != 0x80;
  }
  latch_putf(&answer->result, "{\"lines\":%zu,\"glyphs\":%zu,\"gaps\":%zu}", lines, glyphs, gaps);
  return true;
}

LATCH_PLUGIN({
  .name = "Charter.Count",
  .description = "Counts the lines, glyphs and gaps of a transcription with a known digest.",
  .input = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
           "\"sha256\":{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{64}$\"}},\"required\":[\"path\",\"sha256\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"lines\",\"glyphs\",\"gaps\"]}",
  .determinism = LATCH_PURE,
  .handler = count,
});
