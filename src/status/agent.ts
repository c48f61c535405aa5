// The node's status in the agent: the operator's status, meter, artifacts, alarms, kept journals, tasks and
// incidents.
import type { INCIDENTS_CONTROL } from '#contract/status/control.ts'
import type { NODE_CONTROL } from '#contract/node/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { alarmHandlers } from '#node/control/alarms.ts'
import { journalHandlers } from '#node/control/journals.ts'
import { taskHandlers } from '#node/control/tasks.ts'
import { incidentHandlers } from './control/incidents.ts'
import { nodeHandlers } from './control/node.ts'
import { requestHandlers } from './control/requests.ts'
import { createIncidents } from './incidents.ts'
import { nodeFactsOf } from './operator/node-facts.ts'
import { logOf, writeAtLooks } from './operator/write-facts.ts'
import { reachable } from './page/probes.ts'
import type { ProbeSettings } from './probe/probe.ts'
import type { StatusSettings } from './gateway.ts'
import { STATUS_CELL, STATUS_PROGRAM, startStatusPage } from './status-cell.ts'

export const STATUS_AGENT: AgentProduct = { name: 'status', programs: [STATUS_PROGRAM], open }

async function open(core: AgentCore): Promise<AgentPart> {
  const { config, meterName, state, journals } = core
  const settings: StatusSettings = {
    probeS: config.probeSeconds,
    countsMs: config.statusSeconds * 1000,
    meter: meterName,
    region: config.region,
    ...(config.metricsToken === undefined ? {} : { metricsToken: config.metricsToken.reveal() }),
  }
  const probe: ProbeSettings = {
    everyS: config.probeSeconds,
    api: { host: reachable(config.host), port: core.data.port },
  }
  // Before the gateways: the page says that they are not there yet.
  await startStatusPage(core)
  const facts = {
    [meterName]: () => nodeFactsOf(core),
    [logOf(meterName)]: () => ({ lines: core.place.logTail.lines }),
  }
  const looks = await writeAtLooks({ state, facts, log: core.log })
  return {
    gateway: { settings },
    tasks: { settings: probe },
    cells: [{ stage: 'workers', name: STATUS_CELL }],
    close: async () => await looks[Symbol.asyncDispose](),
    control: {
      ...nodeHandlers(core),
      ...requestHandlers(core),
      ...alarmHandlers(state),
      ...journalHandlers(journals),
      ...taskHandlers(state),
      ...incidentHandlers(createIncidents(state, config.region)),
    } satisfies ControlHandlers<typeof NODE_CONTROL & typeof INCIDENTS_CONTROL>,
  }
}
