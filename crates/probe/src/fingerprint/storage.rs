//! Filesystems and the chain of block devices behind the modules, down to the disks.

use std::fs;
use std::path::Path;

use system::stack::{self, Layer, children};

use super::{Facts, chosen, name_of, text};

pub(super) fn read<P: AsRef<Path>>(facts: &mut Facts, modules: &[P]) {
    let mut layers: Vec<Layer> = Vec::new();
    for (index, path) in modules.iter().enumerate() {
        let below = stack::below(path.as_ref());
        module(facts, index, path.as_ref(), &below);
        for layer in below {
            if !layers.iter().any(|known| known.number == layer.number) {
                layers.push(layer);
            }
        }
    }
    for layer in &layers {
        disk(facts, layer);
    }
}

fn module(facts: &mut Facts, index: usize, path: &Path, below: &[Layer]) {
    let key = |what: &str| format!("module.{index}.{what}");
    facts.put_private(key("path"), Some(path.display().to_string()));
    let is_device =
        below.first().is_some_and(|layer| Some(layer.number) == stack::number_behind(path)) && is_block(path);
    let names: Vec<String> = below.iter().map(|layer| layer.name.clone()).collect();
    facts.put(key("devices"), (!names.is_empty()).then(|| names.join(" > ")));
    if is_device {
        return;
    }
    let mount = stack::mount_of(path);
    facts.put(key("filesystem"), mount.as_ref().map(|mount| mount.filesystem.clone()));
    facts.put(key("mount_options"), mount.as_ref().map(|mount| plain_options(&mount.options)));
    facts.put_private(key("mount_point"), mount.map(|mount| mount.point.display().to_string()));
    if let Ok(space) = rustix::fs::statvfs(path) {
        let bytes = |blocks: u64| Some(blocks.saturating_mul(space.f_frsize).to_string());
        facts.put(key("free_bytes"), bytes(space.f_bavail));
        facts.put(key("filesystem_bytes"), bytes(space.f_blocks));
        facts.put(key("filesystem_block_bytes"), Some(space.f_frsize.to_string()));
    }
}

/// Mount options without those that name places, people or secrets: network filesystems and overlays have them.
fn plain_options(options: &str) -> String {
    const NAMING: &[&str] = &["addr", "user", "pass", "cred", "domain", "secret", "source", "subvol", "name", "key"];
    let plain = |option: &&str| match option.split_once('=') {
        Some((key, value)) => !value.contains(['/', '@']) && !NAMING.iter().any(|word| key.contains(word)),
        None => true,
    };
    options.split(',').filter(plain).collect::<Vec<_>>().join(",")
}

fn is_block(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device())
}

/// Files of a disk's `queue` folder that tell how the kernel treats its operations.
const QUEUE: &str = include_str!("storage_queue.txt");

/// The facts of one block device of the chain.
pub(super) fn disk(facts: &mut Facts, layer: &Layer) {
    let key = |what: &str| format!("disk.{}.{what}", layer.name);
    let (own, disk) = (layer.sysfs.as_path(), layer.disk.as_path());
    let size = text(&own.join("size")).and_then(|sectors| sectors.parse::<u64>().ok());
    facts.put(key("size_bytes"), size.map(|sectors| (sectors * 512).to_string()));
    if own != disk {
        facts.put(key("disk"), Some(name_of(disk)));
        facts.put_if(key("start_sector"), text(&own.join("start")));
        facts.put_if(key("alignment_offset"), text(&own.join("alignment_offset")));
        return;
    }
    facts.put(key("scheduler"), text(&disk.join("queue/scheduler")).map(|list| chosen(&list)));
    facts.put(key("write_cache"), text(&disk.join("queue/write_cache")));
    for name in QUEUE.split_whitespace() {
        facts.put_if(key(name), text(&disk.join("queue").join(name)));
    }
    let queues = children(&disk.join("mq")).count();
    facts.put_if(key("hardware_queues"), (queues > 0).then(|| queues.to_string()));
    hardware(facts, layer);
    layered(facts, layer);
}

/// What the maker says, and how the disk is attached.
fn hardware(facts: &mut Facts, layer: &Layer) {
    let key = |what: &str| format!("disk.{}.{what}", layer.name);
    let device = layer.disk.join("device");
    let first = |names: &[&str]| names.iter().find_map(|name| text(&layer.disk.join(name)));
    facts.put_if(key("model"), first(&["device/model"]));
    facts.put_if(key("vendor"), first(&["device/vendor"]));
    facts.put_if(key("firmware"), first(&["device/firmware_rev", "device/rev"]));
    facts.put_private(key("serial"), first(&["serial", "device/serial"]));
    facts.put_private(key("wwn"), first(&["wwid", "device/wwid"]));
    facts.put_if(key("transport"), first(&["device/transport"]));
    facts.put_if(key("queue_depth"), first(&["device/queue_depth"]));
    facts.put_if(key("numa_node"), first(&["device/numa_node", "device/device/numa_node"]));
    facts.put_if(key("link_speed"), first(&["device/device/current_link_speed"]));
    facts.put_if(key("link_width"), first(&["device/device/current_link_width"]));
    let driver = |folder: &Path| fs::read_link(folder.join("driver")).ok().map(|link| name_of(&link));
    facts.put_if(key("driver"), driver(&device).or_else(|| driver(&device.join("device"))));
}

/// What a virtual layer adds: device mapper, software arrays, loop devices.
fn layered(facts: &mut Facts, layer: &Layer) {
    let key = |what: &str| format!("disk.{}.{what}", layer.name);
    let here = |name: &str| text(&layer.disk.join(name));
    facts.put_private(key("dm_name"), here("dm/name"));
    // `LVM-…`, `CRYPT-LUKS2-…`, `mpath-…`: the first word is the kind, the rest tells this machine from others.
    facts.put_if(key("dm_kind"), here("dm/uuid").and_then(|uuid| Some(uuid.split('-').next()?.to_owned())));
    for name in
        ["level", "raid_disks", "chunk_size", "sync_action", "degraded", "consistency_policy", "stripe_cache_size"]
    {
        facts.put_if(key(&format!("md_{name}")), here(&format!("md/{name}")));
    }
    facts.put_private(key("loop_backing_file"), here("loop/backing_file"));
    facts.put_if(key("loop_direct"), here("loop/dio"));
    let lower: Vec<String> = children(&layer.disk.join("slaves")).map(|entry| name_of(&entry)).collect();
    facts.put_if(key("stands_on"), (!lower.is_empty()).then(|| lower.join(", ")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_name_places_people_or_secrets_are_left_out() {
        let options =
            "rw,noatime,vers=4.2,addr=10.0.0.1,clientaddr=10.0.0.2,username=ann,password=x,lowerdir=/a:/b,data=ordered";
        assert_eq!(plain_options(options), "rw,noatime,vers=4.2,data=ordered");
    }
}
