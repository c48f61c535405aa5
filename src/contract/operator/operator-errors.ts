// Codes that no protocol of the API answers with: each ends a start, a command or a cell, and stands in its last line
// or in the log. docs/reference/errors.md prints them; a test holds the list against the codes that are thrown.
import type { OperatorEntry } from '#base/errors.ts'
import { BASE_ERRORS } from '#base/own-errors.ts'

const operator = (status: number, help: string): OperatorEntry => ({ status, help })

export const OPERATOR_ERRORS = {
  image_reference_invalid: operator(
    400,
    'Name an image as [registry/]repository[:tag][@sha256:…], oci:PATH[:tag] or docker-archive:PATH[:tag].',
  ),
  image_not_found: operator(404, 'Check the name, the tag and the digest, or the path.'),
  image_denied: operator(403, 'The registry needs a user and a password that may pull the image.'),
  image_unsupported: BASE_ERRORS.image_unsupported,
  image_damaged: operator(
    502,
    'Bytes came that have not the digest of the image: check the registry or the file. Nothing of them was kept.',
  ),
  image_too_large: operator(422, 'Use a smaller image.'),
  image_too_slow: operator(
    504,
    'The pull took longer than pulls may: use a smaller image, or a faster registry.',
  ),
  image_quota_exceeded: operator(
    409,
    'Use a smaller image, or delete a workload: the images of an account count together, each once.',
  ),
  image_hostile: operator(
    422,
    'A layer has an entry that leads out of the image, or more entries or longer paths than an image needs: build the image anew.',
  ),
  registry_unreachable: operator(424, 'The registry does not answer: try again later.'),
  artifact_folder_unwritable: operator(
    503,
    'The folder of artifacts may not be written: check its owner.',
  ),
  artifact_interrupted: operator(503, 'The fetch was stopped; the next one goes on.'),
  artifact_mismatch: operator(
    502,
    'Other bytes came than the known ones: check the package index or the file.',
  ),
  artifact_tool_missing: operator(
    503,
    'A program is missing: install the one that is named (python3 with pip).',
  ),
  artifact_unknown: operator(404, 'There is no artifact of that name: see `ergon artifacts list`.'),
  artifact_unreachable: operator(
    503,
    'The package index does not answer: set the proxy or the index of pip, or ERGON_ARTIFACTS.',
  ),
  artifact_unsupported: operator(501, 'The artifact is not made for this processor.'),
  blob_damaged: operator(
    500,
    'The stored bytes of an object are not those that were written: restore them.',
  ),
  page_damaged: operator(
    500,
    'A page of the state cannot be read: see `page_damaged` in the guide of operating.',
  ),
  blob_location_unknown: operator(
    500,
    'Objects are in a store that is not configured: configure it again, or move them first.',
  ),
  blob_missing: operator(
    500,
    'The stored bytes of an object are gone: restore the folder of blobs.',
  ),
  blob_store_away: operator(
    503,
    'The S3 store of ERGON_STORAGE_BLOBS does not answer: check its address, or wait for it.',
  ),
  blob_store_refused: operator(
    500,
    'The S3 store of ERGON_STORAGE_BLOBS may not be used: correct its key or its bucket; one place belongs to one installation.',
  ),
  calibration_invalid: operator(
    500,
    'The calibration file is damaged or of another machine: calibrate again.',
  ),
  cell_not_ready: operator(503, 'A process of ours answered that it is not ready.'),
  cell_silent: operator(504, 'A process of ours did not answer in time.'),
  ceremony_unknown: operator(
    409,
    'A signer was asked to go on with a key that it did not begin to make.',
  ),
  charge_invalid: operator(
    500,
    'Bytes that should be a charge are not one; on a receipt: do not believe it.',
  ),
  database_unusable: operator(
    500,
    'The state of DATABASE_URL cannot be reached or may not be written: the message says where and why.',
  ),
  config_invalid: BASE_ERRORS.config_invalid,
  data_damaged: operator(
    500,
    'A file of the data folder cannot be read: restore it from a backup.',
  ),
  data_unmade: operator(
    500,
    'The data folder cannot be made or is not ours: the message says why; give another one.',
  ),
  data_too_new: operator(500, 'A newer version wrote the data folder: run that version.'),
  foreign_origin: operator(409, 'A signer was asked to sign a log that is not of its key.'),
  gap: operator(409, 'A signer needs earlier leaves first; the sealer sends them.'),
  gateway_not_ready: operator(500, 'A gateway did not answer in time: its log says why.'),
  gpu_unmetered: operator(
    500,
    'ERGON_GPU needs a meter of the GPU: `nvidia-smi` in PATH, of an NVIDIA card of the generation Ampere or newer, or ERGON_PLUG_URL. The message has the reason.',
  ),
  gpu_unusable: operator(
    500,
    'ERGON_GPU names an engine whose package is not installed, or a GPU whose driver is not: see the guide on models.',
  ),
  journal_not_made: operator(
    500,
    'The journal has no room to be made: make room on the disk of the data folder.',
  ),
  key_exists: operator(409, 'A signer has a key already, which does not name the other one.'),
  leaf_refused: operator(
    409,
    'A signer found a charge whose figures do not follow from its fields.',
  ),
  link_refused: operator(
    409,
    'A signer was shown a new shard that does not begin with the end of the one before.',
  ),
  malformed: operator(409, 'A signer could not read a message.'),
  locked: BASE_ERRORS.locked,
  model_file_invalid: operator(500, 'The file of the model cannot be used: fetch it again.'),
  model_files_missing: operator(
    503,
    'The files of the model could not be made ready: the message says why.',
  ),
  no_key: operator(409, 'The signers have not made their key yet.'),
  port_taken: operator(500, 'The port is in use: stop its user, or give --port and --pg-port.'),
  postgres_install_changed: operator(
    503,
    'The data folder was made with another PostgreSQL: set it back; an upgrade is not served yet.',
  ),
  postgres_install_damaged: operator(503, 'Files of PostgreSQL are damaged: run npm ci.'),
  postgres_missing: operator(
    503,
    'There is no PostgreSQL 16 for this machine: install it and set ERGON_PG_BIN.',
  ),
  postgres_not_initialised: operator(503, 'The cluster could not be made: the message says why.'),
  postgres_not_ready: operator(503, 'PostgreSQL runs and does not answer yet.'),
  postgres_version: operator(500, 'The server is no PostgreSQL 16.'),
  receipt_invalid: operator(
    400,
    'The receipt cannot be read, or does not hold: do not believe it.',
  ),
  receipt_keys_invalid: operator(
    400,
    'The list of keys cannot be read, or a key in it was swapped.',
  ),
  root_mismatch: operator(
    409,
    'A signer computed another tree head from the leaves than it was asked to sign.',
  ),
  run_folder_taken: BASE_ERRORS.run_folder_taken,
  sealer_fenced: operator(500, 'A newer sealer has begun; this one saves nothing.'),
  settings_invalid: operator(500, 'Settings are wrong: the message names each.'),
  shard_closed: operator(409, 'A signer was asked to sign a shard after the next one had begun.'),
  share_refused: operator(409, 'A signer got a key share that does not fit.'),
  signer_damaged: operator(
    500,
    'What a signer keeps cannot be read: restore its folder, or go on with the other four.',
  ),
  signer_silent: operator(503, 'A signer does not answer.'),
  signers_disagree: operator(
    500,
    'The signers do not hold shares of one key: their folders are mixed up.',
  ),
  signers_refused: operator(
    503,
    'Too many signers refuse to sign: the message holds their reasons.',
  ),
  signers_unavailable: operator(503, 'Fewer than three signers answer: receipts wait.'),
  size_regression: operator(409, 'A signer signed a larger log before: the ledger was set back.'),
  state_in_use: operator(
    500,
    'Another node runs on this state: stop it, or give another DATABASE_URL. The message says which one, and since when.',
  ),
  state_mismatch: operator(
    500,
    'The data folder belongs to another state: correct DATABASE_URL, or give another data folder.',
  ),
  state_foreign: operator(
    500,
    'The schema of the state has objects that Ergon did not make, or lacks some that Ergon made: name an empty database or schema, or restore the state from its copy.',
  ),
  state_too_old: operator(
    500,
    'A version before 0.1.0 made the state: start with a new data folder or an empty database, or run the version that made the state.',
  ),
  state_too_new: operator(500, 'A newer version wrote the state: run that version.'),
  tile_missing: operator(500, 'A tile of the log is missing in the state.'),
  undecipherable: BASE_ERRORS.undecipherable,
  unknown_nonce: operator(
    409,
    'A signer was asked to use a nonce that it does not have; the sealer asks again.',
  ),
  window_invalid: operator(500, 'Bytes that should be a meter window are not one.'),
  zone_unknown: operator(500, 'There is no carbon figure for the zone: correct ERGON_CARBON_ZONE.'),
} as const satisfies Readonly<Record<string, OperatorEntry>>

export type OperatorCode = keyof typeof OPERATOR_ERRORS
