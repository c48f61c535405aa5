// The portal in the agent: its address, the build of the console, and the operator's links.
import { join } from 'node:path'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { APP_FOLDER } from '#node/cell-specs.ts'
import { ownPorts } from '#node/own-addresses.ts'
import { PORTAL_PORT_OFFSET } from '#node/ports.ts'
import { baseUrl, portalUrl, statusUrl } from '#node/report.ts'
import { buildConsole } from './build-console.ts'
import { recoverHandlers } from './control/recover.ts'
import type { PortalSettings } from './settings.ts'
import { newAccountEnv, signUpRuleOf } from './sign-up-rule.ts'

/** The build of the console, in a checkout and in a package. */
const FILES_FOLDER = join(APP_FOLDER, 'portal', 'dist')

export const PORTAL_AGENT: AgentProduct = { name: 'portal', open }

function open({ config, data, state, log, report }: AgentCore): AgentPart {
  const url = portalUrl({ config, data })
  const control = recoverHandlers(state, url)
  if (url === null) return { gateway: { settings: {} satisfies PortalSettings }, control }
  const settings: PortalSettings = {
    site: {
      port: data.port + PORTAL_PORT_OFFSET,
      url,
      signUp: signUpRuleOf(config, url),
      env: newAccountEnv(config, url),
      baseUrl: baseUrl({ config, data }),
      statusUrl: statusUrl({ config, data }),
      pusdPerJ: config.pricePusdPerJ.toString(),
      freeJ: config.freeTierJ.toString(),
      ports: ownPorts({ config, data }),
      files: FILES_FOLDER,
    },
  }
  const ending = new AbortController()
  let building: Promise<void> = Promise.resolve()
  return {
    gateway: { settings },
    control,
    async start() {
      if (config.portalBuild)
        building = buildConsole({
          folder: APP_FOLDER,
          log,
          tell: report.step,
          signal: ending.signal,
        })
    },
    async close() {
      ending.abort()
      await building
    },
  }
}
