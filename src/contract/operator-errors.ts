// Codes that no door of the API answers with: they end a start, a command or a cell, and stand in its
// last line or in the log. What each means is printed in docs/reference/errors.md; a test holds this
// list against the codes that the source throws.

export const OPERATOR_ERRORS = {
  artifact_folder_unwritable: 'The folder of artifacts may not be written: check its owner.',
  artifact_interrupted: 'The fetch was stopped; the next one goes on.',
  artifact_mismatch: 'Other bytes came than the known ones: check the package index or the file.',
  artifact_tool_missing: 'A program is missing: install the one that is named (python3 with pip).',
  artifact_unknown: 'There is no artifact of that name: see `ergon artifacts list`.',
  artifact_unreachable:
    'The package index does not answer: set the proxy or the index of pip, or ERGON_ARTIFACTS.',
  artifact_unsupported: 'The artifact is not made for this processor.',
  blob_damaged: 'The stored bytes of an object are not those that were written: restore them.',
  blob_location_unknown:
    'Objects are in a store that is not configured: configure it again, or move them first.',
  blob_missing: 'The stored bytes of an object are gone: restore the folder of blobs.',
  blob_store_away:
    'The S3 store of ERGON_STORAGE_BLOBS does not answer: check its address, or wait for it.',
  blob_store_refused:
    'The S3 store of ERGON_STORAGE_BLOBS may not be used: correct its key or its bucket; one place belongs to one installation.',
  calibration_invalid: 'The calibration file is damaged or of another machine: calibrate again.',
  cell_not_ready: 'A process of ours answered that it is not ready.',
  cell_silent: 'A process of ours did not answer in time.',
  ceremony_unknown: 'A signer was asked to go on with a key that it did not begin to make.',
  charge_invalid: 'Bytes that should be a charge are not one; on a receipt: do not believe it.',
  config_invalid:
    'A child process did not get its configuration: it is started by the agent alone.',
  database_unusable:
    'The state of DATABASE_URL cannot be reached or may not be written: the message says where and why.',
  data_damaged: 'A file of the data folder cannot be read: restore it from a backup.',
  data_unmade:
    'The data folder cannot be made or is not ours: the message says why; give another one.',
  data_too_new: 'A newer version wrote the data folder: run that version.',
  foreign_origin: 'A signer was asked to sign a log that is not of its key.',
  gap: 'A signer needs earlier leaves first; the sealer sends them.',
  gateway_not_ready: 'A gateway did not answer in time: its log says why.',
  gpu_unusable:
    'ERGON_GPU names an engine whose package is not installed, or a GPU whose driver is not: see the guide on models.',
  journal_not_made: 'The journal has no room to be made: make room on the disk of the data folder.',
  key_exists: 'A signer has a key already, which does not name the other one.',
  leaf_refused: 'A signer found a charge whose figures do not follow from its fields.',
  link_refused:
    'A signer was shown a new shard that does not begin with the end of the one before.',
  locked: 'Another process uses the folder: only one node may run on a data folder.',
  malformed: 'A signer could not read a message.',
  model_file_invalid: 'The file of the model cannot be used: fetch it again.',
  model_files_missing: 'The files of the model could not be made ready: the message says why.',
  no_key: 'The signers have not made their key yet.',
  port_taken: 'The port is in use: stop its user, or give --port and --pg-port.',
  postgres_install_changed:
    'The data folder was made with another PostgreSQL: set it back; an upgrade is not served yet.',
  postgres_install_damaged: 'Files of PostgreSQL are damaged: run npm ci.',
  postgres_missing: 'There is no PostgreSQL 16 for this machine: install it and set ERGON_PG_BIN.',
  postgres_not_initialised: 'The cluster could not be made: the message says why.',
  postgres_not_ready: 'PostgreSQL runs and does not answer yet.',
  postgres_version: 'The server is no PostgreSQL 16.',
  receipt_invalid: 'The receipt cannot be read, or does not hold: do not believe it.',
  receipt_keys_invalid: 'The list of keys cannot be read, or a key in it was swapped.',
  root_mismatch: 'A signer computed another tree head from the leaves than it was asked to sign.',
  run_folder_taken:
    'Somebody else has put something where our sockets go: remove it, or set TMPDIR to a folder of your own.',
  sealer_fenced: 'A newer sealer has begun; this one saves nothing.',
  settings_invalid: 'Settings are wrong: the message names each.',
  shard_closed: 'A signer was asked to sign a shard after the next one had begun.',
  share_refused: 'A signer got a key share that does not fit.',
  signer_damaged:
    'What a signer keeps cannot be read: restore its folder, or go on with the other four.',
  signer_silent: 'A signer does not answer.',
  signers_disagree: 'The signers do not hold shares of one key: their folders are mixed up.',
  signers_refused: 'Too many signers refuse to sign: the message holds their reasons.',
  signers_unavailable: 'Fewer than three signers answer: receipts wait.',
  size_regression: 'A signer signed a larger log before: the ledger was set back.',
  state_in_use:
    'Another node runs on this state: stop it, or give another DATABASE_URL. The message says which one, and since when.',
  state_mismatch:
    'The data folder belongs to another state: correct DATABASE_URL, or give another data folder.',
  state_too_old:
    'A version before 0.1.0 made the state: start with a new data folder or an empty database, or run the version that made the state.',
  state_too_new: 'A newer version wrote the state: run that version.',
  tile_missing: 'A tile of the log is missing in the state.',
  undecipherable:
    'A secret in the state cannot be read with the key of this data folder: give it again.',
  unknown_nonce: 'A signer was asked to use a nonce that it does not have; the sealer asks again.',
  window_invalid: 'Bytes that should be a meter window are not one.',
  zone_unknown: 'There is no carbon figure for the zone: correct ERGON_CARBON_ZONE.',
} as const satisfies Readonly<Record<string, string>>
