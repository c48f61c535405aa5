// The most that may be around the data of a body, of requests and answers alike: it costs CPU that no account pays for.

/** Chunks of three bytes are below. */
export const FRAMING_PER_DATA_MAX = 2
/** Beyond that share: sizes, extensions and trailers, and heads of 1xx. */
const FRAMING_BYTES_MAX = 1_048_576
/** For each second of a body: 160 chunks of one byte, which cost 0.26 ms. So a slow stream may last for days. */
const FRAMING_BYTES_PER_S = 500

/** True where a body that began then has more framing, beyond the share of its data, than is allowed. */
export function isTooMuchFraming(
  bytes: number,
  begunMs: number,
  nowMs = () => performance.now(),
): boolean {
  if (bytes <= FRAMING_BYTES_MAX) return false
  return bytes > FRAMING_BYTES_MAX + (FRAMING_BYTES_PER_S * (nowMs() - begunMs)) / 1000
}
