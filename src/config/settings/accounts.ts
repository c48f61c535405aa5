// The settings of accounts.
import { count } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'

export const ACCOUNTS_SETTINGS = {
  deletionDays: {
    name: 'ERGON_DELETION_DAYS',
    flag: 'deletion-days',
    help: 'Days in which the deletion of an account can be taken back (default 7)',
    check: count(1, 90).default(7),
  },
  retentionDays: {
    name: 'ERGON_RETENTION_DAYS',
    flag: 'retention-days',
    help: 'Days of storage that are kept of a balance, which new work cannot have (default 7)',
    check: count(1, 365).default(7),
  },
} satisfies Settings
