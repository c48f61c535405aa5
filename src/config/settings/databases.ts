// The settings of databases.
import { z } from 'zod'
import { count, onOff } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'

export const DATABASES_SETTINGS = {
  databases: {
    name: 'ERGON_DATABASES',
    flag: 'databases',
    help: 'on or off: databases of accounts on this node (default on)',
    check: onOff.default(true),
  },
  dbIdleSeconds: {
    name: 'ERGON_DB_IDLE_SECONDS',
    flag: 'db-idle-seconds',
    help: 'Seconds without a connection after which the server of a database stops; the next connection starts it (default 300)',
    check: count(1, 86_400).default(300),
  },
  pgProxies: {
    name: 'ERGON_PG_PROXIES',
    flag: 'pg-proxies',
    help: 'Processes that serve the database endpoint, on one port (default 1)',
    check: count(1, 16).default(1),
  },
  dbArchiveSeconds: {
    name: 'ERGON_DB_ARCHIVE_SECONDS',
    flag: 'db-archive-seconds',
    help: 'Seconds after which the log of a running database is stored: what a lost disk can lose (default 60)',
    check: count(1, 3600).default(60),
  },
  dbBackupDays: {
    name: 'ERGON_DB_BACKUP_DAYS',
    flag: 'db-backup-days',
    help: 'Days that a database can be restored to any second of, and that a deleted one can be restored (default 7)',
    check: count(1, 365).default(7),
  },
  dbHost: {
    name: 'ERGON_DB_HOST',
    flag: 'db-host',
    help: 'Host name of the database endpoint in connection strings (default: localhost, or that of ERGON_BASE_URL)',
    check: z.hostname().optional(),
  },
  dbTlsCert: {
    name: 'ERGON_DB_TLS_CERT',
    flag: 'db-tls-cert',
    help: 'PEM file of the certificate of the database endpoint, its issuers after it; taken up within 5 s when it changes (default: one of our own)',
    check: z.string().optional(),
  },
  dbTlsKey: {
    name: 'ERGON_DB_TLS_KEY',
    flag: 'db-tls-key',
    help: 'PEM file of the key of that certificate',
    check: z.string().optional(),
  },
} satisfies Settings
