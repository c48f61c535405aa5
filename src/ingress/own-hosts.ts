// The names of the installation itself: no route of an account takes one, nor a name below one.
import type { AgentCore } from '#node/agent-part.ts'
import { ingressAddress } from '#node/functions-address.ts'
import { baseUrl, portalUrl, statusUrl } from '#node/report.ts'

/** Connection strings of databases on this machine may have it, as the portal has portal.localhost. */
const DATABASES_HERE = 'db.localhost'
/** Buckets are websites below it, where the setting names nothing else. */
const WEBSITES_HERE = 'website.localhost'

/** For the settings of a product whose routes have whole names. */
export function ownHosts(core: Pick<AgentCore, 'config' | 'data'>): readonly string[] {
  const urls = [baseUrl(core), portalUrl(core), statusUrl(core)]
  const { dbHost, storageWebsiteHost: websites = WEBSITES_HERE } = core.config
  const names = [
    ...urls.flatMap((url) => (url === null ? [] : [new URL(url).hostname])),
    ...[ingressAddress(core)?.host, dbHost, DATABASES_HERE, websites].filter(
      (name) => name !== undefined,
    ),
  ]
  return [...new Set(names)]
}
