// Requests and replies of the routed operations of the live stream.
import { ok, type Descriptions } from '#contract/description.ts'
import { liveMessage, liveQuery } from './live.ts'
import type { LIVE } from './operations.ts'

export const LIVE_DESCRIPTIONS: Descriptions<typeof LIVE> = {
  'live.get': {
    summary:
      'What the account uses now, as server-sent events: one message a second, or each six while nothing changes, then an event `end` with what the stream cost',
    query: liveQuery,
    replies: ok('Messages until the time is over', { 'text/event-stream': liveMessage }),
  },
}
