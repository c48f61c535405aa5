// The labels of containers, by which an installation knows its own.
import type { WorkloadSpec } from '#workloads/driver.ts'

const INSTALLATION = 'ergon.installation'

export const labelsOf = (
  installation: string,
  { account, id, version, instance }: WorkloadSpec,
): Readonly<Record<string, string>> => ({
  [INSTALLATION]: installation,
  'ergon.account': account,
  'ergon.workload': id,
  'ergon.version': String(version),
  'ergon.instance': String(instance),
})

/** The query that finds those of an installation. */
export const ofInstallation = (installation: string): string =>
  `filters=${encodeURIComponent(JSON.stringify({ label: [`${INSTALLATION}=${installation}`] }))}`
