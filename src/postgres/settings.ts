// The settings of every server that Ergon runs. They are on the command line, which nothing overrides:
// neither postgresql.conf nor ALTER SYSTEM by a superuser.

const ALWAYS = {
  listen_addresses: '',
  unix_socket_permissions: '0777',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  data_sync_retry: 'off',
  ssl: 'off',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%m [%p] %q%u@%d ',
  log_timezone: 'UTC',
} as const

const USUALLY = {
  max_connections: '50',
  shared_buffers: '64MB',
  timezone: 'UTC',
  // WAL is recycled down to 80 MB, never freed. Preallocated WAL is available when the disk is full, so a
  // checkpoint can end; without it the server panics (a full WAL disk is a PANIC).
  max_wal_size: '256MB',
  min_wal_size: '80MB',
  checkpoint_timeout: '5min',
  // A backend whose client is gone goes on to the end of its query otherwise.
  client_connection_check_interval: '1s',
} as const

/** name → value for a server; what is needed for safety stays whatever `own` says. */
export const settingsFor = (
  clusterName: string,
  socketFolder: string,
  own: Readonly<Record<string, string>>,
): Record<string, string> => ({
  ...USUALLY,
  ...own,
  ...ALWAYS,
  cluster_name: clusterName,
  unix_socket_directories: socketFolder,
})
