// ergon probe: what the installation found when it last asked itself, by component or by day.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { print, printJson, table, tell } from '#cli/output.ts'
import { nj, printJoules } from '#base/units.ts'
import type { probeReply, ProbeReply } from '#contract/status/probe.ts'

type Component = ProbeReply['components'][number]

export async function run({ options }: CommandCall): Promise<void> {
  const days = options['days'] as string | undefined
  const query = days === undefined ? '' : `?days=${encodeURIComponent(days)}`
  const answer = await apiGet(options, `/v1/probe${query}`, { public: true })
  const reply = replyOf<typeof probeReply>(answer)
  if (options.json) return printJson(reply)
  if (reply.every_seconds === 0) tell('The probe is off: ERGON_PROBE_SECONDS is 0')
  print(days === undefined ? latestTable(reply.components) : dayTable(reply.components))
}

const joules = (energy: string | null) => (energy === null ? '-' : printJoules(nj(BigInt(energy))))
const milliseconds = (duration: number | null) => (duration === null ? '-' : String(duration))

const latestTable = (components: readonly Component[]): string =>
  table(
    ['COMPONENT', 'STATE', 'MS', 'J', 'AT', 'REQUEST OR REASON'],
    components.map(({ id, state, last, at, request, reason }) => [
      id,
      state,
      milliseconds(last?.duration_ms ?? null),
      joules(last?.energy_nj ?? null),
      at ?? '-',
      reason ?? request ?? '-',
    ]),
  )

const dayTable = (components: readonly Component[]): string =>
  table(
    ['COMPONENT', 'DAY', 'PROBES', 'FAILED', 'MEDIAN MS', 'MEDIAN J'],
    components.flatMap(({ id, days }) =>
      days.map((day) => [
        id,
        day.day,
        String(day.probes),
        String(day.failures),
        milliseconds(day.duration_ms),
        joules(day.energy_nj),
      ]),
    ),
  )
