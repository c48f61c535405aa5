// The addresses of workloads.
import type { FunctionsAddress } from '#contract/functions/functions-address.ts'

/** The address of a host: the scheme and the port are those of all routes. */
export const workloadUrl = ({ host: below, named }: FunctionsAddress, host: string): string =>
  named.replace(`*.${below}`, host)
