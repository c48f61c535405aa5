// Limits: every request.
import { LATE_REQUESTS_MAX } from '#charging/late-requests.ts'
import { PAGE_LIMIT, PAGE_LIMIT_MAX } from '#contract/values/list-page.ts'
import * as live from '#contract/live/live.ts'
import { ACCOUNT_REQUESTS_MAX } from '#http/account-load.ts'
import * as http from '#http/limits.ts'
import { ACCOUNT_RATE_PER_MINUTE } from '#http/request-rates.ts'
import { WAITING_BYTES_MAX } from '#http/request-lines.ts'
import { UNSENT_BYTES_MAX } from '#http/unsent-replies.ts'
import { bytes, code, count, seconds, words, type LimitSection } from './limit.ts'

export const REQUESTS: LimitSection = {
  title: 'Every request',
  limits: [
    ['request line and headers', bytes(http.HEADER_BYTES_MAX), code('headers_too_large')],
    ['headers', count(http.HEADERS_MAX), code('headers_too_large')],
    ['path and query', bytes(http.TARGET_BYTES_MAX), code('uri_too_long')],
    ['time for the headers', seconds(http.HEADERS_TIMEOUT_MS), code('request_timeout')],
    ['time for an answer', seconds(http.DEADLINE_MS), code('deadline_exceeded')],
    [
      'requests sent ahead on one connection; each begins when the reply before has left',
      count(http.PIPELINED_MAX),
      words('the connection is closed'),
    ],
    [
      'bytes of requests that were sent ahead, in each gateway and in the ingress; a request counts 3 KiB more',
      bytes(WAITING_BYTES_MAX),
      words('the connection with most of them is closed'),
    ],
    [
      'connections, in each gateway',
      count(http.CONNECTIONS_MAX),
      words('the connection is closed'),
    ],
    [
      'connections of one network, in each gateway',
      count(http.CONNECTIONS_OF_NETWORK_MAX),
      words('the connection is closed'),
    ],
    [
      'a kept connection without a request',
      seconds(http.KEEP_ALIVE_MS),
      words('the connection is closed'),
    ],
    [
      'a connection on which nothing moves',
      seconds(http.SILENCE_MS_MAX),
      words('the connection is closed'),
    ],
    [
      'a client that reads nothing while the rest of its reply waits in memory',
      seconds(http.UNREAD_MS_MAX),
      words('the connection is closed'),
    ],
    [
      'bytes of replies that wait in memory for their readers, in each gateway',
      bytes(UNSENT_BYTES_MAX),
      words('the connection that waited longest is closed'),
    ],
    [
      'requests of one account at once, each until its reply has left, in each gateway (`ERGON_ACCOUNT_REQUESTS`); of strangers to its public buckets half as many',
      count(ACCOUNT_REQUESTS_MAX),
      code('too_many_requests'),
    ],
    [
      'requests of one account in a minute, to each gateway (`ERGON_ACCOUNT_RATE`); they come back evenly',
      count(ACCOUNT_RATE_PER_MINUTE),
      code('rate_limit_exceeded'),
    ],
    [
      'requests that wait for a late answer of the ledger, a second at most, in each gateway',
      count(LATE_REQUESTS_MAX),
      code('state_unavailable'),
    ],
    [
      'live streams of one account at once, in each gateway',
      count(live.LIVE_STREAMS_MAX),
      code('too_many_requests'),
    ],
    [
      'live streams of all accounts at once, in each gateway',
      count(live.LIVE_STREAMS_OF_ALL_MAX),
      code('overloaded'),
    ],
    [
      '`seconds` of a live stream; a client asks again with the last id',
      count(live.LIVE_SECONDS_MAX),
      code('invalid_request'),
    ],
    [
      `\`limit\` of a list; without it ${PAGE_LIMIT}, and \`next_cursor\` goes on`,
      count(PAGE_LIMIT_MAX),
      code('invalid_request'),
    ],
  ],
}
