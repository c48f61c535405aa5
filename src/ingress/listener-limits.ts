// The limits that all listeners of the ingress have.
import { FUNCTION_TIMEOUT_S_MAX } from '#contract/functions/function-limits.ts'

export const ROUTED_HEADER_BYTES_MAX = 32_768
export const ROUTED_HEADERS_MAX = 200
/** A connection on which nothing moves: longer than code may take to start and to answer. */
export const ROUTED_SILENCE_MS_MAX = (FUNCTION_TIMEOUT_S_MAX + 90) * 1000
