// The portal in the agent: its address, the folder of the console's build, and the operator's links.
import { join } from 'node:path'
import type { AgentProduct } from '#node/agent-part.ts'
import { APP_FOLDER } from '#node/cell-specs.ts'
import { PORTAL_PORT_OFFSET } from '#node/ports.ts'
import { baseUrl, portalUrl } from '#node/report.ts'
import { recoverHandlers } from './control/recover.ts'
import { newAccountEnv, signUpRuleOf } from './sign-up-rule.ts'
import type { PortalSettings } from './settings.ts'

/** Where the build of the console lies, in a checkout and in a package. */
export const FILES_FOLDER = join(APP_FOLDER, 'portal', 'dist')

export const PORTAL_AGENT: AgentProduct = {
  name: 'portal',
  open({ config, data, state }) {
    const url = portalUrl({ config, data })
    const settings: PortalSettings =
      url === null
        ? {}
        : {
            site: {
              port: data.port + PORTAL_PORT_OFFSET,
              url,
              signUp: signUpRuleOf(config, url),
              env: newAccountEnv(config, url),
              baseUrl: baseUrl({ config, data }),
              files: FILES_FOLDER,
            },
          }
    return { gateway: { settings }, control: recoverHandlers(state, url) }
  },
}
