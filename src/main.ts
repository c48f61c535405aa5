// npm start: the node agent, from the bundle that an earlier start has made of this code, else from its sources. A bundle
// takes a third of the CPU to load.
import { dataPlace } from '#config/data-place.ts'
import { agentBundle } from '#node/agent-bundle.ts'
import type * as AgentProgram from '#processes/run-agent.ts'

const fromSources = (): Promise<typeof AgentProgram> => import('#processes/run-agent.ts')
const bundle = agentBundle(dataPlace(process.argv.slice(2)))
// The data folder is not locked yet: another start may be making its own bundles, and a part of ours may be gone.
const { runAgent } = await (bundle === undefined
  ? fromSources()
  : (import(bundle.address) as Promise<typeof AgentProgram>).catch(fromSources))
await runAgent(bundle?.version)
