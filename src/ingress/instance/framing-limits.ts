// The most that may be around the data of a body, of requests and answers alike: it costs CPU that no account pays for.

/** Chunks of three bytes are below. */
export const FRAMING_PER_DATA_MAX = 2
/** Beyond that share: sizes, extensions and trailers, and heads of 1xx. */
export const FRAMING_BYTES_MAX = 1_048_576
