// A status document with every kind of content: all states, an open and a closed incident, models, rates.
import { statusDocument, type KnownStatus } from '#status/page/document.ts'
import { shownDays } from '#status/page/history.ts'

export const SAMPLE_MS = Date.UTC(2026, 10, 26, 9, 41)
const DAY_S = 86_400
const days = (
  troubles: Readonly<Record<number, [degraded: number, down: number]>> = {},
  from = 0,
) =>
  Object.fromEntries(
    shownDays(SAMPLE_MS).flatMap((day, index) => {
      const [degraded, down] = troubles[index] ?? [0, 0]
      return index < from ? [] : [[day, { ok: DAY_S - degraded - down, degraded, down }]]
    }),
  )

const known: KnownStatus = {
  factsAtMs: SAMPLE_MS - 300_000,
  history: {
    atMs: SAMPLE_MS,
    parts: {
      api: { state: 'ok', days: days() },
      inference: { state: 'degraded', days: days({ 61: [900, 0], 89: [300, 0] }) },
      'inference:smollm2-135m-instruct': { state: 'ok', days: days({}, 40) },
      'inference:qwen2.5-0.5b-instruct-with-a-very-long-name-that-wraps': {
        state: 'down',
        days: days({ 89: [0, 4000] }, 60),
      },
      storage: { state: 'ok', days: days() },
      databases: { state: 'ok', days: days({ 33: [0, 2280], 34: [240, 0] }) },
      ledger: { state: 'ok', days: days() },
      receipts: { state: 'ok', days: days({ 61: [200, 0] }) },
      webhooks: { state: 'ok', days: days({}, 12) },
    },
  },
  facts: {
    incidents: [
      {
        id: 'inc_2',
        region: 'local',
        summary: 'A model does not start',
        started_at: '2026-11-26T08:30:00.000Z',
        ended_at: null,
        lost: null,
        unbilled: 'Requests that ended with 502',
        updates: [
          {
            at: '2026-11-26T09:00:00.000Z',
            words: 'The file of the model is damaged; it is fetched again.',
          },
        ],
      },
      {
        id: 'inc_1',
        region: 'local',
        summary: 'Databases did not wake for 38 minutes',
        started_at: '2026-10-01T22:10:00.000Z',
        ended_at: '2026-10-01T22:48:00.000Z',
        lost: 'Nothing that was stored',
        unbilled: 'Time asleep',
        updates: [
          { at: '2026-10-01T22:48:00.000Z', words: 'There is room again.' },
          {
            at: '2026-10-01T22:20:00.000Z',
            words: 'A full disk keeps new servers from starting. Those that are awake go on.',
          },
        ],
      },
    ],
    regions: ['local', 'moon'],
    models: [
      { id: 'smollm2-135m-instruct', state: 'ready' },
      { id: 'qwen2.5-0.5b-instruct-with-a-very-long-name-that-wraps', state: 'failed' },
    ],
    rates: [
      { name: 'pub_ke03vd19ab77', requests: 730, failures: 1 },
      { name: 'pub_7c91a0e2f4d1', requests: 11_204, failures: 0 },
    ],
    ledger: 'ok',
    receipts: 'ok',
    failedProbes: [],
    hasWebhooks: true,
    hasDatabases: true,
    hasRoutes: true,
  },
}

export const sampleDocument = () =>
  statusDocument(known, { nowMs: SAMPLE_MS, periodMs: 60_000, ownRegion: 'local' })
