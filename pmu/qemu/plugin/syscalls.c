// SPDX-License-Identifier: GPL-2.0-only
/* System calls of the program that change what its addresses mean, or where control goes. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "plugin.h"
#include "qemu_plugin_api.h"

bool guest_read(uint64_t address, void *data, size_t size)
{
	struct iovec local = { data, size };
	struct iovec remote = { (void *)(uintptr_t)(address + guest_base()), size };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static void on_sigaction(uint64_t action)
{
	uint64_t handler; /* the first member of the kernel's struct sigaction */

	if (action && guest_read(action, &handler, sizeof(handler)) && handler > 1)
		blocks_note_handler(handler);
}

static void on_syscall(qemu_plugin_id_t id, unsigned int index, int64_t num, uint64_t a1,
		       uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
		       uint64_t a8)
{
	const struct guest_machine *machine = options.machine;

	(void)id;
	(void)a6;
	(void)a7;
	(void)a8;
	if (index >= MAX_VCPUS)
		return;
	if (num == machine->rt_sigreturn)
		vcpus[index].returns = true;
	else if (num == machine->rt_sigaction)
		on_sigaction(a2);
	else if (num == machine->munmap)
		mappings_forget(a1, a2);
	else if (num == machine->mremap)
		mappings_forget(a1, a2);
	else if (num == machine->mmap && a4 & MAP_FIXED)
		mappings_forget(a1, a2);
	else if (num == machine->execve)
		follow_exec(&vcpus[index], a1, a2, a3);
	else if (num == machine->execveat && (int)a1 == AT_FDCWD && !a5)
		follow_exec(&vcpus[index], a2, a3, a4);
}

static void on_return(qemu_plugin_id_t id, unsigned int index, int64_t num, int64_t ret)
{
	const struct guest_machine *machine = options.machine;
	struct vcpu *vcpu = &vcpus[index];
	char name[17] = "";

	(void)id;
	if (index >= MAX_VCPUS)
		return;
	if (vcpu->execs && (num == machine->execve || num == machine->execveat)) {
		vcpu->execs = false;
		lane_put(&vcpu->writer, LANE_RECORD_NO_EXEC, lane_now(), NULL, 0, NULL, 0);
	}
	if (num == machine->prctl && !ret && !prctl(PR_GET_NAME, name) &&
	    strncmp(name, vcpu->comm, sizeof(vcpu->comm))) {
		memcpy(vcpu->comm, name, sizeof(vcpu->comm));
		lane_put(&vcpu->writer, LANE_RECORD_COMM, lane_now(), name, sizeof(name) - 1, NULL,
			 0);
	}
}

void syscalls_register(uint64_t id)
{
	qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
}
