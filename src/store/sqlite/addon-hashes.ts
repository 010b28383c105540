/** The SHA-256 of each addon in @photostructure/sqlite 1.2.1. Generated: `node scripts/addon-hashes.mjs --write`. */
export const addonHashes: ReadonlySet<string> = new Set([
  // darwin-arm64/@photostructure+sqlite.glibc.node
  '37316514c934e65f533b9854c1b5f6c76ce5782e96b2045c9778ca9c8c750d2e',
  // darwin-x64/@photostructure+sqlite.glibc.node
  '89556b8b1d0b067ea090d0bce53809a234098139abf436ecf430388cc2b60d01',
  // linux-arm64/@photostructure+sqlite.glibc.node
  '386672e4363f16e7985e49577a15bb040ad2c738286bd445ce743e0febaf4f01',
  // linux-arm64/@photostructure+sqlite.musl.node
  '8bd9a16b45f4de9acda7c25da28b9a267f99e5803a1ded4c5549a47c7951644c',
  // linux-x64/@photostructure+sqlite.glibc.node
  '2bc51dc5dd91ac27bb0659316cefc136655bbb75ee71d61f1e7b102428acd6e2',
  // linux-x64/@photostructure+sqlite.musl.node
  '466968ca8d44baccca2514a589f26ff4cc16c79c4477c5926305fbe24f7f09be',
  // win32-arm64/@photostructure+sqlite.glibc.node
  'a7a89479086db4788815c8c5cd5b5ed0cc8e3ee218ce212cb6eda73fc7d4831a',
  // win32-x64/@photostructure+sqlite.glibc.node
  '26e4f697344357d5d11c810ce1eb2bf8d829a7a2898c59f8acad7fe5a4eed0fc',
]);
