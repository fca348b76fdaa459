//! Keys of systems.

use super::group;
use reading::key::{Count, Flag, Span};
use units::Bytes;

group! { SYSTEM, System;
    /// Size of each module: of a scratch file, or of the part of a device that is used, from its start.
    Block SIZE "size": Span<Bytes> = Span { min: Bytes::mib(1), max: Bytes(1 << 50) },
        Follows("(1 GiB for scratch files; the whole device)");
    /// How many modules take part: files or devices that are loaded at the same time.
    Block MODULES "modules": Count = Count { min: 1, max: 1024 }, Follows("(every device or folder that the system names)");
}

group! { OPENING, Opening;
    /// Whether modules are filled before they are first read. A device that is not filled is opened for reading only:
    /// it needs no consent, may be mounted, and is read as it is found.
    Never FILL "fill": Flag = Flag, Follows("(true; false for a device on which every trial only reads)");
}
