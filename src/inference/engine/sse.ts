// Server-sent events as the gateway reads them: unnamed data events and comments (WHATWG HTML §9.2).
// A named event would break the OpenAI SDKs.
import { usageField, type CellUsage } from './usage.ts'

export const EVENT_STREAM = 'text/event-stream; charset=utf-8'
export const DONE = 'data: [DONE]\n\n'

/** A chunk with the usage so far. */
export const dataFrame = (chunk: object, usage: CellUsage): string =>
  `data: ${JSON.stringify({ ...chunk, ergon: usageField(usage) })}\n\n`

/** Progress when there is nothing to show: a comment that clients skip. */
export const commentFrame = (usage: CellUsage): string =>
  `: ${JSON.stringify(usageField(usage))}\n\n`
