// The settings of the network of accounts' code.
import { networks } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'

export const EGRESS_SETTINGS = {
  egressNetworks: {
    name: 'ERGON_EGRESS_NETWORKS',
    flag: 'egress-networks',
    help: 'Private addresses and networks that code of functions and workloads may connect to beside public ones, by comma, or none (default none)',
    check: networks.default([]),
  },
} satisfies Settings
