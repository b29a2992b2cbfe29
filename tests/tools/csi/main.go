// A stand-in for the CSI driver of JuiceFS, which is no package that tests could install.
//
// It follows the driver's documentation for volumes that an administrator made, where clients are processes of the node
// service ("by process"): the Secret of nodePublishSecretRef has name, metaurl, storage, bucket, access-key and secret-key;
// the volume is formatted if it is not; one client for each volumeHandle of a node gets the PV's mountOptions unchanged,
// `subdir` among them; pods get a bind mount of it. A client that has ended is started again, and bound again where pods
// are, which those see whose mounts propagate from the host.
//
// It leaves out: dynamic provisioning, mount pods, staging, quotas, statistics, the Secret's other keys, the cloud service.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

const mountSeconds = 30

var (
	name    = flag.String("name", "", "of the driver")
	node    = flag.String("node", "", "this node")
	kubelet = flag.String("kubelet", "/var/lib/kubelet", "its folder")
	client  = flag.String("client", "", "the program mount.juicefs")
	folder  = flag.String("folder", "", "where clients mount")
)

type driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedNodeServer
	registration.UnimplementedRegistrationServer
	lock    sync.Mutex
	volumes map[string]*volume
}

// One client, and the pods' folders that it is bound to.
type volume struct {
	path    string
	targets map[string]bool
	process *exec.Cmd
	start   func() (*exec.Cmd, error)
}

func main() {
	flag.Parse()
	d := &driver{volumes: map[string]*volume{}}
	go serve(endpoint(), func(server *grpc.Server) {
		csi.RegisterIdentityServer(server, d)
		csi.RegisterNodeServer(server, d)
	})
	serve(filepath.Join(*kubelet, "plugins_registry", *name+"-reg.sock"), func(server *grpc.Server) {
		registration.RegisterRegistrationServer(server, d)
	})
}

func endpoint() string { return filepath.Join(*kubelet, "plugins", *name, "csi.sock") }

func serve(socket string, register func(*grpc.Server)) {
	os.MkdirAll(filepath.Dir(socket), 0o755)
	os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	register(server)
	log.Fatal(server.Serve(listener))
}

func (d *driver) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	versions := []string{"1.0.0"}
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: *name, Endpoint: endpoint(), SupportedVersions: versions}, nil
}

func (d *driver) NotifyRegistrationStatus(_ context.Context, said *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	log.Printf("registered: %v %s", said.PluginRegistered, said.Error)
	return &registration.RegistrationStatusResponse{}, nil
}

func (d *driver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: *node}, nil
}

func (d *driver) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

func (d *driver) NodePublishVolume(_ context.Context, asked *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	for _, key := range []string{"name", "metaurl", "storage", "bucket"} {
		if asked.Secrets[key] == "" {
			return nil, status.Errorf(codes.InvalidArgument, "the secret has no %s", key)
		}
	}
	found := d.volumes[asked.VolumeId]
	if found == nil {
		found = newVolume(asked)
		process, err := found.start()
		if err != nil {
			return nil, status.Error(codes.Internal, err.Error())
		}
		found.process = process
		d.volumes[asked.VolumeId] = found
		go d.watch(asked.VolumeId, found)
	}
	if err := bind(found.path, asked.TargetPath, asked.Readonly); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	found.targets[asked.TargetPath] = true
	return &csi.NodePublishVolumeResponse{}, nil
}

func (d *driver) NodeUnpublishVolume(_ context.Context, asked *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	unmount(asked.TargetPath)
	os.Remove(asked.TargetPath)
	if found := d.volumes[asked.VolumeId]; found != nil {
		delete(found.targets, asked.TargetPath)
		if len(found.targets) == 0 {
			delete(d.volumes, asked.VolumeId)
			unmount(found.path)
			found.process.Process.Signal(syscall.SIGTERM)
		}
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// Starts a client again that has ended although pods use it.
func (d *driver) watch(id string, found *volume) {
	for {
		found.process.Wait()
		d.lock.Lock()
		if d.volumes[id] != found {
			d.lock.Unlock()
			return
		}
		log.Printf("the client of %s has ended", id)
		unmount(found.path)
		if process, err := found.start(); err == nil {
			found.process = process
			for target := range found.targets {
				unmount(target)
				log.Print(bind(found.path, target, false))
			}
		} else {
			log.Print(err)
			time.Sleep(time.Second)
		}
		d.lock.Unlock()
	}
}

func newVolume(asked *csi.NodePublishVolumeRequest) *volume {
	secrets := asked.Secrets
	path := filepath.Join(*folder, asked.VolumeId)
	address, environment := withoutPassword(secrets)
	options := append(asked.VolumeCapability.GetMount().GetMountFlags(), "metrics=127.0.0.1:0", "backup-meta=0", "no-usage-report")
	start := func() (*exec.Cmd, error) {
		os.MkdirAll(path, 0o755)
		format := exec.Command(*client, "format", "--storage="+secrets["storage"], "--bucket="+secrets["bucket"], address, secrets["name"])
		format.Path = filepath.Join(filepath.Dir(*client), "juicefs")
		format.Args[0] = "juicefs"
		format.Env = environment
		if said, err := format.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("format: %w: %s", err, tail(said))
		}
		process := exec.Command(*client, address, path, "-o", strings.Join(options, ","))
		// A client with a supervisor of its own would come back by itself.
		process.Env = append(environment, "JFS_FOREGROUND=1", "JFS_SUPERVISOR=1")
		process.Stdout, process.Stderr = os.Stdout, os.Stderr
		if err := process.Start(); err != nil {
			return nil, err
		}
		for until := time.Now().Add(mountSeconds * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
			var found syscall.Stat_t
			// The root of a volume has the inode 1, by which the driver knows it too.
			if syscall.Stat(path, &found) == nil && found.Ino == 1 {
				return process, nil
			}
		}
		process.Process.Kill()
		process.Wait()
		return nil, fmt.Errorf("the client has not mounted %s within %d s", asked.VolumeId, mountSeconds)
	}
	return &volume{path: path, targets: map[string]bool{}, start: start}
}

// Secrets go to the client by its environment alone.
func withoutPassword(secrets map[string]string) (string, []string) {
	environment := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + *folder,
		"ACCESS_KEY=" + secrets["access-key"], "SECRET_KEY=" + secrets["secret-key"],
	}
	address, err := url.Parse(secrets["metaurl"])
	if err != nil || address.User == nil {
		return secrets["metaurl"], environment
	}
	password, _ := address.User.Password()
	address.User = nil
	return address.String(), append(environment, "META_PASSWORD="+password)
}

func bind(source, target string, readOnly bool) error {
	os.MkdirAll(target, 0o755)
	var found, wanted syscall.Stat_t
	if syscall.Stat(target, &found) == nil && syscall.Stat(source, &wanted) == nil && found.Dev == wanted.Dev {
		return nil
	}
	if err := syscall.Mount(source, target, "", syscall.MS_BIND, ""); err != nil {
		return err
	}
	if readOnly {
		return syscall.Mount("", target, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
	}
	return nil
}

func unmount(path string) { syscall.Unmount(path, syscall.MNT_DETACH) }

func tail(said []byte) string {
	return string(said[max(0, len(said)-500):])
}
