// The settings of evidence packs.
import { count } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'

export const COMPLIANCE_SETTINGS = {
  evidenceDays: {
    name: 'ERGON_EVIDENCE_DAYS',
    flag: 'evidence-days',
    help: 'Days that evidence packs are kept (default 90)',
    check: count(1, 3650).default(90),
  },
} satisfies Settings
