// The node's status in the agent: the operator's status, meter, artifacts, alarms, kept journals, tasks and
// incidents.
import type { INCIDENTS_CONTROL } from '#contract/control/incidents.ts'
import type { NODE_CONTROL } from '#contract/control/node.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { alarmHandlers } from '#node/control/alarms.ts'
import { journalHandlers } from '#node/control/journals.ts'
import { taskHandlers } from '#node/control/tasks.ts'
import { incidentHandlers } from './control/incidents.ts'
import { nodeHandlers } from './control/node.ts'
import { requestHandlers } from './control/requests.ts'
import type { StatusSettings } from './gateway.ts'

export const STATUS_AGENT: AgentProduct = { name: 'status', open }

function open(core: AgentCore): AgentPart {
  const { config, meterName, state, journals } = core
  const settings: StatusSettings = {
    meter: meterName,
    ...(config.metricsToken === undefined ? {} : { metricsToken: config.metricsToken.reveal() }),
  }
  return {
    gateway: { settings },
    control: {
      ...nodeHandlers(core),
      ...requestHandlers(core),
      ...alarmHandlers(state),
      ...journalHandlers(journals),
      ...taskHandlers(state),
      ...incidentHandlers(state, config.region),
    } satisfies ControlHandlers<typeof NODE_CONTROL & typeof INCIDENTS_CONTROL>,
  }
}
