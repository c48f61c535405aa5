// A workload as the API shows it.
import type { ReplyOf } from '#console/client/operations.ts'

export type Workload = ReplyOf<'GET /v1/workloads/:workload'>
export type Version = Workload['versions'][number]

/** Its image without the registry, as lists have room for. */
export const shortImage = (image: string): string => image.slice(image.lastIndexOf('/') + 1)

/** The charge while no instance runs, in words. */
export const restCost = ({ volumes }: Pick<Workload, 'volumes'>): string =>
  `the stored bytes of its images${volumes.length === 0 ? '' : ' and volumes'} cost`
