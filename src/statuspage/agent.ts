// The node's status in the agent: the operator's status, meter, artifacts, alarms, kept journals and tasks.
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { alarmRoutes } from '#node/control/alarms.ts'
import { journalRoutes } from '#node/control/journals.ts'
import { taskRoutes } from '#node/control/tasks.ts'
import { nodeRoutes } from './control/node.ts'
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
    control: [
      ...nodeRoutes(core),
      ...alarmRoutes(state),
      ...journalRoutes(journals),
      ...taskRoutes(state),
    ],
  }
}
