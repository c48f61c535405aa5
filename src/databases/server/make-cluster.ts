// The files of the server of a database.
import { join } from 'node:path'
import type { Secret } from '#base/log.ts'
import { initialiseCluster } from '#postgres/cluster.ts'
import type { PostgresInstall } from '#postgres/install.ts'
import type { Resource } from '#resources/resource.ts'

const TEMPLATE = 'template'
// The superuser is the agent, by its password. The roles of customers have proved who they are at the proxy, and
// nobody else may enter the folder of the socket.
const HOST_RULES = 'local all postgres scram-sha-256\nlocal all all trust\n'

/** A copy of a template, which the first database makes. */
export async function makeCluster(
  {
    install,
    superuserPassword,
    folder,
  }: {
    readonly install: () => Promise<PostgresInstall>
    readonly superuserPassword: Secret
    readonly folder: string
  },
  { id }: Resource,
  signal: AbortSignal,
): Promise<void> {
  const template = join(folder, TEMPLATE)
  const cluster = { install: await install(), superuserPassword, walSegmentMb: 1, signal }
  await initialiseCluster({ ...cluster, folder: template })
  await initialiseCluster({ ...cluster, folder: join(folder, id), template, hostRules: HOST_RULES })
}
